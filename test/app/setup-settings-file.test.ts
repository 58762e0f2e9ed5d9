import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openSettings, withSettings } from '../../src/app/setup/settings-file.ts'
import { temporaryFolder } from '../support/simulator.ts'

describe('the settings file', () => {
  it.each([
    ['.env', '', 'templates.json'],
    ['.env', 'test', 'templates.json'],
    ['.env.test', 'test', 'templates-test.json'],
    ['/etc/quartermaster/.env', '', '/etc/quartermaster/templates.json'],
    ['trial.env', '', 'templates.json'],
    ['trial.env', 'test', 'templates-test.json'],
  ])('gives the files next to %s of instance "%s" names of their own', async (path, instance, beside) => {
    expect((await openSettings(path, instance)).beside('templates.json')).toBe(beside)
  })

  it('returns the written values and keeps every other line', () => {
    const value = fc.string({ minLength: 1, maxLength: 40 }).filter((text) => !/[\r\n]/.test(text))
    const other = fc.constantFrom(
      '# a comment',
      '',
      'OTHER=1',
      'export SPACED = two words ',
      'QUOTED="a # b"',
      '#OURS=old',
    )
    const lines = fc.array(other, { maxLength: 6 })
    fc.assert(
      fc.property(lines, fc.boolean(), value, (some, isThere, wanted) => {
        const text = [...some, ...(isThere ? ['OURS=before'] : [])].join('\n')
        let written: string
        try {
          written = withSettings(text, { OURS: wanted })
        } catch (error) {
          // A value that the file cannot represent is refused, never changed.
          expect(String(error)).toContain('OURS')
          return
        }
        expect(parseEnv(written)['OURS']).toBe(wanted)
        for (const line of some) expect(written.split('\n')).toContain(line)
      }),
    )
  })

  it('refuses a change that would damage a multi-line value', () => {
    const text = 'TEXT="first\nOURS=not a setting\nlast"\n'
    expect(() => withSettings(text, { OURS: 'x' })).toThrow('OURS')
  })

  it.each([
    'plain',
    'with space',
    "it's",
    'say "x"',
    'a#b',
    'a=b',
    '$HOME',
    '[6gyXA5S20@MN+WRXAJ]I-TO7g1:h2P8',
    '~x.y_z-',
  ])('stores %s', (text) => {
    expect(parseEnv(withSettings('', { OURS: text }))['OURS']).toBe(text)
  })

  it('keeps concurrent changes of other programs', async () => {
    const path = join(await temporaryFolder(), '.env')
    writeFileSync(path, 'A=1\n')
    const settings = await openSettings(path)
    writeFileSync(path, 'A=2\nC=3\n')
    await settings.set({ B: '2' })
    expect(readFileSync(path, 'utf8')).toBe('A=2\nC=3\nB=2\n')
    expect(settings.values()).toEqual({ A: '2', B: '2', C: '3' })
  })

  it('becomes readable by its owner only, and a link stays a link', async () => {
    const folder = await temporaryFolder()
    const [path, link] = [join(folder, 'real'), join(folder, '.env')]
    writeFileSync(path, 'A=1\n')
    chmodSync(path, 0o644)
    symlinkSync(path, link)
    const settings = await openSettings(link)
    await settings.set({ B: '2' })
    expect(readFileSync(path, 'utf8')).toBe('A=1\nB=2\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(settings.values()).toEqual({ A: '1', B: '2' })
    expect([settings.isNew('A'), settings.isNew('B')]).toEqual([false, true])
  })
})
