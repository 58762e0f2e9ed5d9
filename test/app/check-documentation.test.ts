import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lineOf } from '../../src/app/check/command.ts'
import { reported } from '../../src/app/check/report.ts'
import { because, judgeEndpoint, judgeExtension, judgePermissions, judgeSiteHosts } from '../../src/core/index.ts'
import { permissions } from '../../src/microsoft365/wire/index.ts'

/** The results of the sample in docs/check.md. */
const parts = [
  ...judgePermissions(permissions.filter(({ service }) => service === 'graph').map(({ name }) => ({ name }))),
  ...judgeSiteHosts([{ name: 'https://contoso.sharepoint.com' }]),
  ...judgeExtension({
    name: 'svc_group',
    problem: because('aboutProbe', {
      subject: 'svc_group',
      reason: because('extensionUnknown', { property: 'extensionAttribute3' }),
    }),
    trouble: 'refused',
  }),
  ...judgeEndpoint({
    answer: 'none',
    problem: because('addressUnreachable', { url: 'https://quartermaster.example/healthz', error: 'ECONNREFUSED' }),
  }),
]

it('docs/check.md shows lines that the command prints, some of them shortened', () => {
  const [, sample = ''] = /^\$ npm run check:tenant\n(.*?)```/ms.exec(readFileSync('docs/check.md', 'utf8')) ?? []
  const shown = sample.trimEnd().split('\n')
  const printed = parts.map((part) => lineOf(reported(part), { write: () => undefined }).trimEnd())
  expect(shown).toHaveLength(printed.length)
  for (const [index, line] of shown.entries()) {
    const pieces = line.split('…').map((piece) => piece.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    expect(printed[index]).toMatch(new RegExp(`^${pieces.join('.*')}$`))
  }
})
