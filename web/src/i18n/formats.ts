/**
 * The browser's formatters for a language. Making one takes up to a hundred times as long as using it, so
 * each is made once.
 */

function madeOnce<Options, Formatter>(
  make: (language: string, options?: Options) => Formatter,
): (language: string, options?: Options) => Formatter {
  const made = new Map<string, Formatter>();
  return (language, options) => {
    const key = `${language} ${JSON.stringify(options)}`;
    let formatter = made.get(key);
    if (formatter === undefined) {
      formatter = make(language, options);
      made.set(key, formatter);
    }
    return formatter;
  };
}

export const numberFormat = madeOnce(
  (language, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options),
);
export const dateFormat = madeOnce(
  (language, options?: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language, options),
);
export const relativeFormat = madeOnce(
  (language, options?: Intl.RelativeTimeFormatOptions) =>
    new Intl.RelativeTimeFormat(language, options),
);
export const listFormat = madeOnce(
  (language, options?: Intl.ListFormatOptions) => new Intl.ListFormat(language, options),
);
export const pluralRules = madeOnce(
  (language, options?: Intl.PluralRulesOptions) => new Intl.PluralRules(language, options),
);
