import { existsSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * Adds the settings of a file to the environment: of the file that `ENV_FILE` names, else of `.env` if it exists. A
 * variable of the environment takes precedence over its line in the file. Throws if the named file cannot be read.
 */
export function loadSettingsFile(): void {
  const { ENV_FILE: named } = process.env
  if (!named) {
    if (existsSync('.env')) process.loadEnvFile('.env')
    return
  }
  try {
    process.loadEnvFile(named)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`ENV_FILE is ${named}, but this file cannot be read: ${why}.`, { cause: error })
  }
}

const prefix = '.env.'

/** Returns the name of the installation that a settings file names: `test` for `.env.test`, and `''` for other files. */
export function installationOf(path: string): string {
  const file = basename(path)
  return file.startsWith(prefix) ? file.slice(prefix.length) : ''
}
