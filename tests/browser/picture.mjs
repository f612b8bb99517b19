// node picture.mjs REPORT.html PICTURE.png [ELEMENT]: makes the picture of a report, or of one element of it, for the documentation.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";

const [report, picture, element] = process.argv.slice(2);
if (picture === undefined) {
  console.error("usage: node picture.mjs REPORT.html PICTURE.png [ELEMENT]");
  process.exit(2);
}
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1120, height: 860 }, colorScheme: "light" });
await page.goto(pathToFileURL(resolve(report)).href);
await (element === undefined ? page : page.locator(element)).screenshot({ path: picture });
await browser.close();
