import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { rowCounts } from '../support/rows.ts'
import { readSources } from '../support/sources.ts'

const page = await readFile(new URL('../../docs/retention.md', import.meta.url), 'utf8')
const [, section = ''] = page.split('## All tables')
const [tables = '', after = ''] = section.split('### Permanent data')
const kept = new Map([...tables.matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm)].map(([, name, text]) => [name, text]))

/**
 * Tables without a DELETE that do not stay for ever: rows of a batch are deleted with it, and the other table has one
 * row.
 */
const withoutDelete = ['batch_rows', 'health_watch']

describe('docs/retention.md', () => {
  const store = withDatabase('embedded')

  it('has the retention of every table, and no other tables', async () => {
    expect([...kept.keys()].toSorted()).toEqual(Object.keys(await rowCounts(store.database)).toSorted())
  })

  it('lists the same permanent tables as its table', () => {
    const [permanent = ''] = after.split('Erasing a person')
    const listed = [...permanent.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)
    const forEver = [...kept].filter(([, text]) => text?.startsWith('for ever')).map(([name]) => name)
    expect(listed.toSorted()).toEqual(forEver.toSorted())
  })

  it('lists as permanent exactly the tables without deletions in code', () => {
    const code = readSources('src')
      .filter(({ path }) => path.startsWith('store/'))
      .map(({ text }) => text)
      .join('\n')
    const deletes = (table: string) => new RegExp(`DELETE FROM ${table}\\b`).test(code)
    for (const [table = '', text = ''] of kept) {
      const stays = text.startsWith('for ever') || withoutDelete.includes(table)
      expect([table, deletes(table)]).toEqual([table, !stays])
    }
  })
})
