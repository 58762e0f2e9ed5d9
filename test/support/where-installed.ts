import { spawnSync } from 'node:child_process'

/** Defines tests that need a program on the machine. Without the program it prints the skipped tests. */
export function whereInstalled(program: string, tests: string, define: () => void): void {
  if (spawnSync(program, ['--version']).status === 0) define()
  else console.log(`${program} is not installed here, so these tests are left out: ${tests}.`)
}
