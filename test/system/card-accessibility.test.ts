import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditCards, type Fault, openAudit } from '../support/card-audit.ts'
import { samples } from '../support/card-samples.ts'
import { highContrast, themes } from '../support/teams-themes.ts'

const executablePath = '/usr/bin/chromium'
const patience = 400_000
/** A theme and a language, by the name in the result. Themes differ in colours only, so one of them gets all checks. */
const drawings = ['en-GB', 'de', 'fr', 'es'].flatMap((language) =>
  Object.entries(language === 'en-GB' ? { ...themes, highContrast } : themes).map(([theme, config]) => ({
    name: `${theme}, ${language}`,
    config,
    language,
    only: theme === 'light' ? undefined : ('contrast' as const),
  })),
)
type Drawing = (typeof drawings)[number]

/** Faults of the renderer or of the host that no card can avoid. A test fails when one of them no longer occurs. */
const exceptions: readonly {
  readonly reason: string
  readonly excuses: (fault: Fault) => boolean
  /** The language without this exception. */
  readonly notIn?: string
}[] = [
  {
    reason: 'Hosts set the level of headings (textBlock.headingLevel); cards cannot.',
    excuses: ({ rule, html }) => rule === 'aria-required-attr' && html.includes('role="heading"'),
  },
  {
    reason: 'The renderer gives the text of `speak` to a card without a role.',
    excuses: ({ rule, html }) => rule === 'aria-prohibited-attr' && html.includes('ac-adaptiveCard'),
  },
  {
    reason: 'The renderer draws people pickers without their label. Teams has its own picker.',
    excuses: ({ rule, html }) =>
      ['label', 'aria-prohibited-attr', 'control-named', 'input-named-by-label'].includes(rule) &&
      html.includes('ac-choiceSetInput-filtered-'),
  },
  {
    reason: 'axe reads “New site” and “For a team” in two blocks as “New siteFor a team”. Our check does not.',
    excuses: ({ rule }) => rule === 'label-content-name-mismatch',
  },
  {
    reason: 'A mark has no letter, so axe cannot judge its contrast. The text next to it has the same meaning.',
    excuses: ({ rule, is }) => rule === 'color-contrast' && is.includes('only non-text characters'),
  },
  {
    reason: 'Longer languages make two cards almost too large for Teams, so their rows have only their title as name.',
    notIn: 'en-GB',
    excuses: ({ rule, card }) => rule === 'row-read' && ['admin-help', 'admin-webhooks'].includes(card),
  },
]

const results = 'test/screenshots'

/** Returns "rule count " for each rule. */
function byRule(faults: readonly Fault[]): string {
  const rules = [...new Set(faults.map(({ rule }) => rule))].sort()
  return rules.map((rule) => `${rule} ${faults.filter((one) => one.rule === rule).length} `).join('')
}

// Without Chromium one test reports this and is skipped, instead of each one.
const hasChromium = existsSync(executablePath)
if (!hasChromium)
  it('accessibility of cards: skipped, because Chromium is missing', ({ skip }) =>
    skip('there is no Chromium here (apt-get install chromium)'))

describe.runIf(hasChromium)('accessibility of every card, 320 px wide', () => {
  let browser: Browser
  const found = new Map<string, Promise<readonly Fault[]>>()

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, timeout: patience, args: ['--no-sandbox', '--disable-gpu'] })
  }, patience)

  /** Returns the faults of all cards in a drawing, which is audited once. */
  const faultsIn = (drawing: Drawing): Promise<readonly Fault[]> => {
    const faults = found.get(drawing.name) ?? audited(drawing)
    found.set(drawing.name, faults)
    return faults
  }
  const audited = async ({ config, language, only }: Drawing): Promise<readonly Fault[]> => {
    const page = await browser.newPage()
    page.setDefaultTimeout(patience)
    await openAudit(page)
    const faults = await auditCards(page, samples, config, language, only)
    await page.close()
    return faults
  }
  afterAll(async () => {
    await browser.close()
    const faults = await Promise.all([...found].map(async ([name, all]) => ({ name, all: await all })))
    /** Returns the number of violations of a card, or of all, in each drawing, by rules; those of an exception in brackets. */
    const resultOf = (card?: string): string => {
      const drawn = faults.map(({ name, all }) => {
        const own = all.filter((one) => card === undefined || one.card === card)
        const violations = own.filter((one) => !excused(one))
        return `${name}: ${violations.length} ${byRule(violations)}(${byRule(own.filter(excused)).trim()})`
      })
      return `${card ?? `${samples.length} cards`}: ${drawn.join('; ')}`
    }
    mkdirSync(results, { recursive: true })
    writeFileSync(`${results}/card-accessibility.txt`, `${samples.map(({ name }) => resultOf(name)).join('\n')}\n`)
    console.log(`Accessibility of ${resultOf()}; each card: ${results}/card-accessibility.txt`)
  })

  const excused = (fault: Fault) => exceptions.some(({ excuses }) => excuses(fault))

  it.each(drawings)('no card has a violation in $name', { timeout: patience }, async (drawing) => {
    expect((await faultsIn(drawing)).filter((fault) => !excused(fault))).toEqual([])
  })

  it('finds the faults of a bad card', async () => {
    const body = [
      { type: 'TextBlock', text: 'A warning in yellow', color: 'Warning' },
      { type: 'TextBlock', text: 'The heading comes too late', style: 'heading' },
      { type: 'Input.Text', id: 'name' },
      {
        type: 'Container',
        selectAction: { type: 'Action.Submit', title: 'Open' },
        items: [{ type: 'TextBlock', text: 'Ready' }],
      },
      { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'contoso.sharepoint.com/sites/'.padEnd(64, 'a') }] },
    ]
    const bad = { name: 'bad', renderedIn: () => ({ type: 'AdaptiveCard', version: '1.5', body }) }
    const page = await browser.newPage()
    await openAudit(page)
    const rules = (await auditCards(page, [bad], themes.light)).map(({ rule }) => rule)
    await page.close()
    expect(rules).toEqual(
      expect.arrayContaining([
        ...['color-contrast', 'heading-first', 'label', 'control-named', 'row-read', 'wider-than-card', 'card-named'],
      ]),
    )
  })

  const whole = drawings.filter(({ only }) => only === undefined)
  it.each(exceptions)('still needs the exception: $reason', { timeout: patience }, async ({ excuses, notIn }) => {
    for (const drawing of whole) {
      const isNeeded = (await faultsIn(drawing)).some(excuses)
      expect(isNeeded, drawing.name).toBe(drawing.language !== notIn)
    }
  })
})
