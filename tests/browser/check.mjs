// Looks at the search page as people do: `node check.mjs ADDRESS FOLDER [CHROMIUM]`.
//
// It wants pages that read right at the width of a phone and of a desk, in the dark too, from the keyboard, with scripts off; a hostile
// title that stays text; and no serious finding of axe-core. Screenshots for people to look at are left in FOLDER. ADDRESS is that of
// the example `search_page`, whose made-up pages are known here.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [address, folder, program = "/usr/bin/chromium"] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(folder, { recursive: true });

const widths = { phone: { width: 360, height: 740 }, desk: { width: 1280, height: 800 } };
const states = {
  home: "/",
  home_ro: "/?lang=ro",
  results: "/search?q=farm",
  results_ro: "/search?q=farm&lang=ro",
  site: "/search?q=farm&site=bluefield.test",
  paging: "/search?q=many&page=3",
  hostile: "/search?q=evil",
  misspelt: "/search?q=festvial",
  nothing: "/search?q=xyzzy",
  empty: "/search?q=",
  asleep: "/search?q=asleep",
  missing: "/nowhere?lang=ro",
};

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
let numFindings = 0;

// axe-core is a script, which the policy of the pages forbids: here alone the policy is set aside, and what is read is the same.
async function look(name, path, size, colorScheme) {
  const context = await browser.newContext({ viewport: widths[size], colorScheme, locale: "en-GB", bypassCSP: true });
  const page = await context.newPage();
  await page.goto(new URL(path, address).href);
  for (const details of await page.locator("summary").all()) await details.click();
  await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`), fullPage: true });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${name} at ${size} is ${overflow} px too wide`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  for (const { id, impact, help, nodes } of violations) {
    console.log(`${name} ${size} ${colorScheme}: ${impact} ${id}: ${help}: ${nodes[0].html}`);
    if (impact === "serious" || impact === "critical") numFindings += 1;
  }
  await context.close();
}

for (const [name, path] of Object.entries(states)) {
  for (const size of Object.keys(widths)) {
    for (const scheme of ["light", "dark"]) await look(name, path, size, scheme);
  }
}

// As people use it: under the real policy, without scripts, by the keyboard.
const context = await browser.newContext({ viewport: widths.phone, locale: "ro-RO", javaScriptEnabled: false });
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => complaints.push(message.text()));
await page.goto(address);
assert.equal(await page.locator("html").getAttribute("lang"), "ro");
await page.keyboard.press("Tab");
assert.equal(await page.locator(":focus").getAttribute("class"), "skip");
await page.getByRole("searchbox").focus();
await page.keyboard.type("farm");
await page.keyboard.press("Enter");
await page.waitForURL(/\/search\?q=farm$/);
assert.equal(await page.locator("h2 a").first().getAttribute("href"), "https://www.bluefield.test/");
await page.getByRole("link", { name: "English" }).click();
await page.waitForURL(/\/search\?q=farm&lang=en$/);
assert.equal(await page.locator("html").getAttribute("lang"), "en");
assert.equal(await page.getByRole("searchbox").inputValue(), "farm");
await page.locator("summary").first().focus();
await page.keyboard.press("Enter");
assert.ok(await page.getByText("Your words were found in:").first().isVisible());
await page.goto(new URL("/search?q=many", address).href);
await page.getByRole("link", { name: "Pagina următoare" }).click();
await page.waitForURL(/page=2$/);
assert.equal(await page.locator("ol.list > li").count(), 10);
await page.goto(new URL("/search?q=festvial", address).href);
await page.getByRole("link", { name: "festival" }).click();
await page.waitForURL(/q=festival$/);
await page.goto(new URL("/search?q=evil", address).href);
assert.match(await page.locator("h2").first().innerText(), /<script>document\.body\.remove\(\)<\/script><img src=x/);
assert.equal(await page.locator("main script, main img").count(), 0);
assert.deepEqual(complaints, [], "the browser complained");
await context.close();

// The same hostile page where scripts would run, and the style sheet passes the policy.
const scripted = await (await browser.newContext()).newPage();
const refused = [];
scripted.on("console", (message) => refused.push(message.text()));
scripted.on("dialog", () => refused.push("a dialog opened"));
await scripted.goto(new URL("/search?q=evil", address).href);
assert.equal(await scripted.locator("ol.list > li").count(), 3);
assert.deepEqual(refused, []);
const button = await scripted.locator("button").evaluate((element) => getComputedStyle(element).backgroundColor);
assert.equal(button, "rgb(23, 74, 124)", "the style sheet is not applied");

await browser.close();
assert.equal(numFindings, 0, `${numFindings} serious findings of axe-core`);
console.log(`${Object.keys(states).length} states at two widths in two schemes: no serious finding; screenshots in ${folder}`);
