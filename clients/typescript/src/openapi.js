// Generated from openapi.json by `npm run generate`; not to be edited.
export {};
