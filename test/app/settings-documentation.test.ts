import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { neededInProduction } from '../../src/app/config.ts'
import { settingNames } from '../../src/app/settings.ts'

interface Documented {
  readonly name: string
  /** The default as text. */
  readonly value: string
  /** What is said about the setting. */
  readonly about: string
}

/** The lines of `.env.example`. The comment above a group of lines is about all of them. */
function exampleSettings(): Documented[] {
  let comment: string[] = []
  let isAfterSetting = false
  return readFileSync('.env.example', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? []
      if (name === undefined) {
        if (isAfterSetting) comment = []
        comment.push(line)
      }
      isAfterSetting = name !== undefined
      return name === undefined ? [] : { name, value, about: comment.join(' ') }
    })
}

const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The rows of the table in README, one for each setting. */
function readmeSettings(): Documented[] {
  const [, section = ''] = readFileSync('README.md', 'utf8').split('\n## Configuration\n')
  const [table = ''] = section.split('\n## ')
  return table.split('\n').flatMap((line) => {
    const [, names, value = ''] = /^\| (`[A-Z_]+`[^|]*) \| ([^|]*) \|/.exec(line) ?? []
    return codes(names ?? '').map((name) => ({ name, value, about: value }))
  })
}

/** The code also needs these, but not in each installation. */
const sometimesNeeded = ['MICROSOFT_APP_PASSWORD', 'DATABASE_URL', 'DATA_DIR']

describe.each([
  ['.env.example', exampleSettings()],
  ['README', readmeSettings()],
] as const)('the settings in %s', (_, documented) => {
  it('are the settings of the code', () => {
    expect(documented.map(({ name }) => name).toSorted()).toEqual([...settingNames].toSorted())
  })

  it('say what production needs, of no other setting than the code', () => {
    const named = documented.filter(({ about }) => /needed in production/i.test(about)).map(({ name }) => name)
    const always = named.filter((name) => !sometimesNeeded.includes(name))
    expect(always.toSorted()).toEqual([...neededInProduction].toSorted())
  })
})

it('README has the defaults of .env.example, whose lines the configuration reads as its own defaults', () => {
  const readme = new Map(readmeSettings().map(({ name, value }) => [name, codes(value)]))
  const differing = exampleSettings().filter(({ name, value }) => value !== '' && !readme.get(name)?.includes(value))
  expect(differing).toEqual([])
})
