import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  nameTokens,
  propertiesOf,
  type ResourceKind,
  resourceKinds,
  template,
  templateWithin,
  webhookSubscription,
} from '../../src/core/index.ts'
import { letterTransforms } from '../../src/core/templates/name-pattern.ts'
import { names, written } from '../support/policy-names.ts'
import { detailOf } from '../support/refusal.ts'
import { caller } from '../support/rest-caller.ts'
import { type SchemaPath, schemaPaths } from '../support/schema-paths.ts'
import { withService } from '../support/service.ts'

const file = 'docs/templates.md'
const text = () => readFileSync(file, 'utf8')

/** Expects this text between two marks of the page; `UPDATE_DOCS=1` writes it. */
function expectBetween(mark: string, expected: string): void {
  const [begin, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`]
  const [before = '', rest = ''] = text().split(begin)
  const [, after = ''] = rest.split(end)
  const whole = `${before}${begin}\n${expected}\n${end}${after}`
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, whole)
  expect(text()).toBe(whole)
}
const cell = (value: string) => value.replaceAll('|', '\\|')

/** Parts with their own tables. */
const elsewhere = /^approval\.stages\[\]\.(approvers|backup|when)\[\]/
const webhook = webhookSubscription
  .nullable()
  .default(null)
  .describe(template.shape.webhook.description ?? '')
const shape = template.extend({ webhook })

function row({ path, schema, usual, isOptional, description }: SchemaPath): string {
  expect(description, `${path} is described where it is defined`).not.toBe('')
  const isShown = usual === null || typeof usual !== 'object' || (Array.isArray(usual) && usual.length > 0)
  const json = isShown ? `\`${JSON.stringify(usual)}\`` : ''
  const standard = usual === undefined ? (isOptional ? '' : 'required') : json
  return `| \`${path}\` | ${typeOf(schema)} | ${standard} | ${cell(description)} |`
}
function typeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodEnum) return schema.options.map((one) => `\`${one}\``).join(' ')
  if (schema instanceof z.ZodArray) return 'list'
  if (schema instanceof z.ZodUnion) return 'value'
  if (schema instanceof z.ZodRecord || schema instanceof z.ZodObject) return 'object'
  if (schema instanceof z.ZodBoolean) return 'yes or no'
  return schema instanceof z.ZodNumber ? 'number' : 'text'
}

describe('the page about templates', () => {
  it('lists every part of a template with its type, default and meaning', () => {
    const rows = schemaPaths(shape)
      .filter(({ path }) => !elsewhere.test(path))
      .map(row)
    expectBetween('properties', ['| part | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n'))
  })

  it('lists the API’s fields that a template of each kind can set', () => {
    const rows = resourceKinds.map(
      (kind) =>
        `| \`${kind}\` | ${propertiesOf(kind)
          .map((id) => `\`${id}\``)
          .join(' ')} |`,
    )
    expectBetween('kinds', ['| kind | fields |', '|---|---|', ...rows].join('\n'))
  })

  it('lists every token and every transform', () => {
    for (const name of [...nameTokens, ...Object.keys(letterTransforms)]) expect(text()).toContain(name)
  })

  const alias = (pattern: string, more: object = {}) => ({ alias: { pattern }, ...more })
  const cases: readonly (readonly [kind: ResourceKind, naming: object, typed: string])[] = [
    ['teamSite', {}, 'Projekt Zürich (Süd)'],
    ['teamSite', { prefix: 'prj-', suffix: '-ch' }, 'Aurora'],
    ['teamSite', alias('{department:12}-{input}'), 'Budget 2027'],
    ['teamSite', alias('{city:3}-{kind}-{input}'), 'Straße & Größe'],
    ['teamSite', alias('{input}-{counter:3}'), 'Łódź Ærø İstanbul'],
    ['teamSite', alias('{country}-{office}-{input}'), 'No office is known'],
    ['teamSite', alias('{metadata.costCentre}-{input}'), 'Team 漢字 🚀 42'],
    ['teamSite', alias('{input}-{year}'), '漢字とカナ'],
    ['teamSite', { displayName: { pattern: '{city:upper} · {input}' } }, 'Élodie’s team'],
    ['teamSite', alias('{input}'), 'A name that is much longer than an address of Microsoft 365 may ever be'],
    ['teamSite', alias('{input}', { blockedWords: ['payroll'] }), 'PÄYROLL of May'],
    ['teamSite', { displayName: { allowed: '\\p{L} ' } }, 'Plan #9'],
    ['sharedMailbox', { name: { pattern: 'desk-{city:3}-{input}' } }, 'help'],
    [
      'roomMailbox',
      { name: { pattern: 'room-{city:3}-{counter:2}' }, displayName: { pattern: '{input} ({city})' } },
      'Aurora',
    ],
  ]
  it('lists examples of names as the code creates them', async () => {
    const profile = { department: 'Digital Workplace', city: 'Zürich', country: 'Switzerland' }
    const rows: string[] = []
    for (const [kind, naming, typed] of cases) {
      const template = written(kind, naming)
      if (!template) throw new Error(`the naming policy is invalid: ${JSON.stringify(naming)}`)
      const isSite = kind === 'teamSite'
      const { displayName, name, faults } = await names(
        template,
        { displayName: typed, address: isSite ? '' : typed.toLowerCase() },
        profile,
      )
      const [first] = faults
      const outcome = first ? `refused: ${detailOf(first)}` : `\`${name}\``
      rows.push(
        `| \`${JSON.stringify(naming)}\` | ${cell(typed)} | ${first ? '' : cell(displayName)} | ${cell(outcome)} |`,
      )
    }
    expectBetween('names', ['| naming | typed | people see | address |', '|---|---|---|---|', ...rows].join('\n'))
  })
})

describe('the examples on the page', () => {
  const service = withService()
  const { call } = caller(service)

  it('include a call that creates a template, and fails with 412 the second time', async () => {
    const example = /curl -X PUT "\$BASE_URL(\S+)"[\s\S]*?-H 'If-None-Match: (.)' -d '(\{[\s\S]*?\n {2}\})'/.exec(
      text(),
    )
    const [, path = '', noneMatch = '', json = ''] = example ?? []
    const put = () => call('sam', 'PUT', path, { body: json, headers: { 'if-none-match': noneMatch } })
    const { status, text: answer } = await put()
    expect(status, answer).toBe(201)
    expect(answer).not.toContain('whsec_')
    expect((await put()).status).toBe(412)
    const read = await call('sam', 'GET', path)
    const changed = { ...z.looseObject({}).parse(read.body), order: 5 }
    const etag = read.headers.get('etag') ?? ''
    expect((await call('sam', 'PUT', path, { body: changed, headers: { 'if-match': etag } })).status).toBe(200)
  })

  it('include a valid template file', () => {
    const json = /```json\n([\s\S]*?)```/.exec(text())?.[1] ?? ''
    expect(z.array(templateWithin([])).parse(JSON.parse(json))).toHaveLength(1)
  })
})
