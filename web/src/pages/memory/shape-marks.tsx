/** One bead: its shape is how certain the memory is, its colour its area. */
import { type BeadShape, numberOf, SHINE } from "./shape-kinds.ts";

/** A rule is a diamond; certain is filled, likely a ring, a guess a dashed ring, and not in use pale. */
export function OneBead({ shape, radius }: { shape: BeadShape; radius: number }) {
  if (shape === "rule")
    return (
      <rect
        x={-radius}
        y={-radius}
        width={radius * 2}
        height={radius * 2}
        rx={radius / 5}
        transform="rotate(45) scale(0.84)"
        className="fill-current"
      />
    );
  if (shape === "unused") return <circle r={radius} className="fill-current opacity-35" />;
  if (shape === "certain")
    return (
      <>
        <circle r={radius} className="fill-current" />
        <Shine radius={radius} />
      </>
    );
  const width = Math.max(2, radius / 4);
  return (
    <circle
      r={radius - width / 2}
      className="fill-surface stroke-current"
      strokeWidth={width}
      strokeDasharray={shape === "likely" ? undefined : `${radius / 2.4} ${radius / 2.8}`}
    />
  );
}

/** The light on a round bead. */
function Shine({ radius }: { radius: number }) {
  const [x, y] = [SHINE.x * radius, SHINE.y * radius];
  return (
    <ellipse
      cx={x}
      cy={y}
      rx={SHINE.rx * radius}
      ry={SHINE.ry * radius}
      transform={`rotate(-40 ${x} ${y})`}
      className="fill-white opacity-30"
    />
  );
}

export function ManyBeads({ count, radius }: { count: number; radius: number }) {
  return (
    <>
      <circle r={radius} className="fill-current" />
      <circle
        r={radius - 2.5}
        className="fill-none stroke-surface opacity-35"
        strokeWidth={1}
        strokeDasharray="1.5 3"
      />
      <text
        textAnchor="middle"
        dy="0.35em"
        className="fill-surface text-fine font-semibold tabular-nums"
      >
        {numberOf(count)}
      </text>
    </>
  );
}
