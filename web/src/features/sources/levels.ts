/** The open levels of the Sources page, from top to bottom; the lowest is shown, the others are the breadcrumb. */
export interface SourceLevels {
  portrait?: string;
  memory?: string;
  episode?: string;
  session?: string;
  turn?: number;
}
