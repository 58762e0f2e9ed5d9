import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { startFlags } from '../bench/service.ts'

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
})
