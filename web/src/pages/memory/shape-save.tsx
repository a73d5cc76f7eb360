/** The dialog that saves the beads as a picture. */
import type { MemoryView } from "lukasa-client";
import { useMemo, useState } from "react";
import { t } from "../../i18n/index.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { saveFile } from "../../ui/save-file.ts";
import type { Tick } from "./shape-axis.ts";
import { lanesOf, placesOf, planOf, type Span, type TimeOf } from "./shape-layout.ts";
import {
  BOARD_SIZE,
  PICTURE_WIDTH,
  type Picture,
  pageColours,
  pictureOf,
  pictureUrl,
  pngOf,
} from "./shape-picture.ts";

const NAME = "memory-beads";

/** What the board shows; the picture has a size of its own. */
interface Shown extends Pick<Picture, "title" | "subtitle" | "span" | "nameOf" | "legend"> {
  shown: readonly MemoryView[];
  areas: readonly string[];
  span: Span;
  timeOf: TimeOf;
  ticks: (width: number) => Tick[];
}

export function SavePicture({ picture, onClose }: { picture: Shown; onClose: () => void }) {
  const [texts, setTexts] = useState(false);
  const [colours] = useState(pageColours);
  const { svg, height } = useMemo(() => {
    const { shown, areas: all, span, timeOf, ticks, ...rest } = picture;
    const areas = all.filter((area) => shown.some((memory) => (memory.domain ?? "") === area));
    const places = placesOf(shown, areas, timeOf);
    const plan = planOf(places, span, BOARD_SIZE);
    const lanes = lanesOf(places, areas, span, plan);
    return pictureOf({ ...rest, span, plan, lanes, ticks: ticks(plan.plot), colours, texts });
  }, [picture, colours, texts]);
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => !open && onClose()}
      title={t("memory.shape.save")}
      text={t("memory.shape.saveText")}
      actions={
        <>
          <Button onClick={() => saveFile(`${NAME}.svg`, svg, "image/svg+xml")}>
            {t("memory.shape.saveAs", { format: "SVG" })}
          </Button>
          <Button
            look="primary"
            onClick={async () => saveFile(`${NAME}.png`, await pngOf(svg, height))}
          >
            {t("memory.shape.saveAs", { format: "PNG" })}
          </Button>
        </>
      }
    >
      <img
        src={pictureUrl(svg)}
        width={PICTURE_WIDTH}
        height={height}
        alt={t("memory.shape.preview")}
        className="h-auto w-full rounded-control border"
      />
      <div className="pt-3">
        <Checkbox label={t("memory.shape.withTexts")} checked={texts} onChange={setTexts} />
      </div>
    </Dialog>
  );
}
