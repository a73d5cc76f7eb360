/** The logo, a memory board with beads, and the name. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2 font-semibold tracking-tight">
      <svg
        viewBox="0 0 32 32"
        aria-hidden="true"
        className="size-5 text-accent"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.4"
        strokeLinejoin="round"
      >
        <path d="M10 3.5h12c3 0 4.4 2.4 3.6 5.6L24 16l1.6 6.9c.8 3.2-.6 5.6-3.6 5.6H10c-3 0-4.4-2.4-3.6-5.6L8 16 6.4 9.1C5.6 5.9 7 3.5 10 3.5Z" />
        <g fill="currentColor" stroke="none">
          <circle cx="12.5" cy="9.5" r="2.3" />
          <circle cx="19.5" cy="9.5" r="2.3" />
          <circle cx="16" cy="16" r="2.3" />
          <circle cx="12.5" cy="22.5" r="2.3" />
          <circle cx="19.5" cy="22.5" r="2.3" />
        </g>
      </svg>
      Lukasa
    </span>
  );
}
