import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { startFlags, startService } from '../bench/service.ts'
import { until } from '../support/until.ts'

/** Returns V8's tag of compiled code, which depends on the flags, after a process with these flags has run this code. */
function tagAfter(flags: readonly string[], code: string): string {
  const script = `import { cachedDataVersionTag } from 'node:v8'
    const { collectOften, useCompiledCode } = await import('./src/heap.ts')
    ${code}
    console.log(cachedDataVersionTag())`
  return execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', script], { encoding: 'utf8' })
}

describe('the options of V8', () => {
  it('let Node use the compiled code of its own modules, despite the flags of npm start', () => {
    const withoutFlags = tagAfter([], '')
    expect(tagAfter(startFlags(), '')).not.toBe(withoutFlags)
    expect(tagAfter(startFlags(), 'useCompiledCode()')).toBe(withoutFlags)
  })

  it('make V8 collect garbage when the heap has grown by a fifth', () => {
    expect(tagAfter(startFlags(), 'useCompiledCode(); collectOften()')).toBe(
      tagAfter(['--heap-growing-percent=20'], ''),
    )
  })

  it('have changed when the service is ready', async () => {
    const report = `import { cachedDataVersionTag } from 'node:v8'
      process.on('SIGUSR2', () => console.log(cachedDataVersionTag() + ' is the tag'))`
    const flags = [...startFlags(), `--import=data:text/javascript,${encodeURIComponent(report)}`]
    const service = await startService(mkdtempSync(join(inject('runFolder'), 'heap-')), {}, 'main.ts', flags)
    process.kill(service.process.pid ?? 0, 'SIGUSR2')
    const tag = await until(() => service.process.printed.find((line) => line.endsWith(' is the tag')), 'the tag')
    await service.stop()
    // The embedded store changes options too.
    const compileOnce = `(await import('./src/store/database/new-store.ts')).compileOnce()`
    expect(tag).toBe(`${tagAfter([], `collectOften(); ${compileOnce}`).trim()} is the tag`)
  })
})
