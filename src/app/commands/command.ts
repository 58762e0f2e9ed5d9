import { existsSync } from 'node:fs'
import type { Contents } from '../../store/index.ts'

/** The contents of a store, as the commands for backup and restore show it. */
export function holds({ requests, templates, newestChange }: Contents): string {
  const newest = newestChange === null ? '' : `; the newest change is of ${newestChange}`
  return `${counted(requests, 'request')} and ${counted(templates, 'template')}${newest}`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** Runs a command with the settings of `.env`. An error is written as one message, and the exit code is 1. */
export async function runCommand(run: () => Promise<void>): Promise<void> {
  try {
    if (existsSync('.env')) process.loadEnvFile('.env')
    await run()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
