import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { withDatabase } from './support/database.ts'
import { rowCounts } from './support/rows.ts'

describe('docs/retention.md', () => {
  const store = withDatabase('embedded')

  it('says of every table how long it is kept, and of no other', async () => {
    const page = await readFile(new URL('../docs/retention.md', import.meta.url), 'utf8')
    const [, section = ''] = page.split('## All tables')
    const named = [...section.matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, name]) => name)
    expect(named.toSorted()).toEqual(Object.keys(await rowCounts(store.database)).toSorted())
  })
})
