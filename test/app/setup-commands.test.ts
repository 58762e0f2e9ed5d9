import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../src/app/setup/command-line.ts'
import { ownCommands } from '../../src/app/setup/own-commands.ts'

const optionsOf = (...args: string[]) => {
  const options = parseOptions(args, () => undefined)
  if (typeof options === 'number') throw new Error('no options')
  return options
}

describe('the commands in the texts of setup', () => {
  it.each([
    ['the usual installation', [], ['npm run setup', 'npm run setup -- --resume', 'npm start']],
    [
      'a second installation',
      ['--instance', 'test'],
      ['npm run setup -- --instance test', 'npm run setup -- --instance test --resume', 'ENV_FILE=.env.test npm start'],
    ],
    [
      'another settings file',
      ['--env-file', '/etc/our settings/.env'],
      [
        "npm run setup -- --env-file '/etc/our settings/.env'",
        "npm run setup -- --env-file '/etc/our settings/.env' --resume",
        "ENV_FILE='/etc/our settings/.env' npm start",
      ],
    ],
    [
      'a second installation in .env',
      ['--env-file', '.env', '--instance', 'test'],
      [
        'npm run setup -- --instance test --env-file .env',
        'npm run setup -- --instance test --env-file .env --resume',
        'npm start',
      ],
    ],
  ])('are for %s', (_, args, commands) => {
    const own = ownCommands(optionsOf(...args), 'linux')
    expect(['npm run setup', 'npm run setup -- --resume', 'npm start'].map((one) => own(`Do it: ${one}`))).toEqual(
      commands.map((one) => `Do it: ${one}`),
    )
  })

  it('are for PowerShell on Windows', () => {
    const own = ownCommands(optionsOf('--instance', 'test'), 'win32')
    expect(own('Check: npm run check:tenant')).toBe("Check: $env:ENV_FILE = '.env.test'; npm run check:tenant")
  })

  it('are all at the end of their text, after a colon', () => {
    const texts = readFileSync('src/app/setup/strings.json', 'utf8').match(/"[^"]*\bnpm [^"]*"/g) ?? []
    expect(texts.length).toBeGreaterThan(8)
    expect(texts.filter((text) => !/: npm (start|run check:tenant|run setup[^:.]*)"$/.test(text))).toEqual([])
  })
})
