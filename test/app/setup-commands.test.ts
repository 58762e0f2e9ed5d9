import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../src/app/setup/command-line.ts'
import { ownCommands } from '../../src/app/setup/own-commands.ts'

const optionsOf = (...args: string[]) => {
  const options = parseOptions(args, () => undefined)
  if (typeof options === 'number') throw new Error('no options')
  return options
}
const commands = 'npm run setup. npm run setup -- --resume; npm start, npm run check:tenant'

describe('setup', () => {
  it.each([
    ['the usual installation', [], commands],
    [
      'a second installation',
      ['--instance', 'test'],
      'npm run setup -- --instance test. npm run setup -- --instance test --resume; ENV_FILE=.env.test npm start, ENV_FILE=.env.test npm run check:tenant',
    ],
    [
      'another settings file',
      ['--env-file', '/etc/our settings/.env'],
      "npm run setup -- --env-file '/etc/our settings/.env'. npm run setup -- --env-file '/etc/our settings/.env' --resume; ENV_FILE='/etc/our settings/.env' npm start, ENV_FILE='/etc/our settings/.env' npm run check:tenant",
    ],
    [
      'both',
      ['--env-file', '.env', '--instance', 'test'],
      'npm run setup -- --instance test --env-file .env. npm run setup -- --instance test --env-file .env --resume; npm start, npm run check:tenant',
    ],
  ])('shows the commands of %s', (_, args, shown) => {
    expect(ownCommands(optionsOf(...args))(commands)).toBe(shown)
  })
})
