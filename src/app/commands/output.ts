import type { Contents } from '../../store/index.ts'

/** What a store holds, as the commands for backup and restore say it. */
export function holds({ requests, templates, newestChange }: Contents): string {
  const newest = newestChange === null ? '' : `; the newest change is of ${newestChange}`
  return `${counted(requests, 'request')} and ${counted(templates, 'template')}${newest}`
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** Says what went wrong in words, and ends with a failure. */
export function tell(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
