import { type ChildProcess, spawn } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { bareEnvironment } from '../support/bare-environment.ts'
import {
  newHome,
  type Outcome,
  runQuartermaster,
  signIn,
  startQuartermaster,
  watchProcess,
} from '../support/command-line.ts'
import { withService } from '../support/service.ts'
import { until } from '../support/until.ts'

const cli = new URL('../../src/client/cli.ts', import.meta.url).pathname

describe('the process of the command line', () => {
  const service = withService()
  const home = newHome()
  let waiting = ''
  beforeAll(async () => {
    expect((await signIn(home, service.app.url, 'kim')).exit).toBe(0)
    const flags = ['--metadata', 'costCentre=4711', '--metadata', 'audience=internal', '--json']
    const args = ['site', 'create', '--template', 'Project site', '--display-name', 'Apollo', ...flags]
    waiting = JSON.parse((await runQuartermaster(args, { home })).printed).requestId
  })

  it('signs in without another question', async () => {
    const before = (await service.calls('login.devicecode')).length
    const { exit, printed } = await startQuartermaster(['whoami'], home).ended
    expect([exit, printed]).toEqual([0, expect.stringContaining('Kim Lee')])
    expect(await service.calls('login.devicecode')).toHaveLength(before)
  })

  it('lets two people sign in at the same time, in two processes, and keeps both tokens', async () => {
    const both = newHome()
    const login = async (who: 'kim' | 'dana') => {
      const running = startQuartermaster(['login', '--base-url', service.app.url], both)
      const shown = await until(() => /Open (\S+) .* code ([A-Z]+)\./.exec(running.errorText()) ?? undefined, 'a code')
      const { answerCode } = await import('../support/command-line.ts')
      await answerCode(shown[1] ?? '', shown[2] ?? '', who, 'allow')
      return running.ended
    }
    expect((await Promise.all([login('kim'), login('dana')])).map(({ exit }) => exit)).toEqual([0, 0])
    const left = await startQuartermaster(['logout', '--json'], both).ended
    expect(JSON.parse(left.printed)).toEqual({ signedOut: 2 })
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends with 130 at %s, in the middle of watching', async (signal) => {
    const running = startQuartermaster(['request', 'watch', waiting], home)
    await until(() => running.printed().includes('pendingApproval') || undefined, 'the state')
    running.child.kill(signal)
    expect(await running.ended).toMatchObject({ exit: 130, errorText: expect.stringMatching(/^REQ-\d+ continues\. /) })
  })

  it('ends a login at Ctrl-C', async () => {
    const running = startQuartermaster(['login'], home)
    await until(() => running.errorText().includes('enter the code') || undefined, 'a code')
    running.child.kill('SIGINT')
    expect((await running.ended).exit).toBe(130)
  })

  it('exits without an error when its reader closes the pipe', async () => {
    const line = `"$0" "$1" mailbox create --help | head -n 1; exit "\${PIPESTATUS[0]}"`
    const child = spawn('bash', ['-c', line, process.execPath, cli], {
      env: { ...process.env, QUARTERMASTER_HOME: home },
    })
    const { exit, printed, errorText } = await watchProcess(child).ended
    expect([exit, errorText]).toEqual([0, ''])
    expect(printed).toBe('Usage: quartermaster mailbox create [flags]\n')
  })

  it('exits without an error when nobody reads the watched output any more', async () => {
    const running = startQuartermaster(['request', 'watch', waiting], home)
    running.child.stdout?.destroy()
    expect(await running.ended).toMatchObject({ exit: 0, errorText: '' })
  })

  it('draws one line on a terminal while it watches, and asks there for missing input', async () => {
    const live = terminal(['site', 'create', '--template', 'Working group', '--display-name', 'Aurora', '--watch'])
    const { exit, printed } = await live.ended
    expect(exit).toBe(0)
    // Each update clears the line before it draws it again.
    const drawn = printed.split('\r\u001b[2K').slice(1, -1)
    expect(drawn.length).toBeGreaterThan(0)
    for (const line of drawn) expect(line).toMatch(/^REQ-\d+ Aurora {2}[✓…·]+ [A-Za-z ]+$/)
    expect(printed).toContain('Created at http')
    const session = terminal(['site', 'create'])
    await until(() => session.printed().includes('Which template?') || undefined, 'a question')
    session.child.stdin?.write('\u0003')
    expect((await session.ended).exit).toBe(130)
  })

  /** Runs in a real terminal, by util-linux’s `script`. */
  function terminal(args: readonly string[]): { child: ChildProcess; ended: Promise<Outcome>; printed(): string } {
    const quoted = [process.execPath, cli, ...args].map((word) => `'${word}'`).join(' ')
    const env = { ...bareEnvironment, QUARTERMASTER_HOME: home, TERM: 'xterm', SHELL: '/bin/sh' }
    return watchProcess(spawn('script', ['-qec', quoted, '/dev/null'], { env, stdio: 'pipe' }))
  }
})
