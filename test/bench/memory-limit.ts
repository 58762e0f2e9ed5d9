import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder and the file of a control group of Linux, in its versions 2 and 1. */
const versions = [
  { root: '/sys/fs/cgroup', sign: 'cgroup.controllers', limit: 'memory.max' },
  { root: '/sys/fs/cgroup/memory', sign: 'memory.limit_in_bytes', limit: 'memory.limit_in_bytes' },
]

/**
 * Limits the memory of a process and of its later children by a control group, as a container does: the kernel kills the
 * process when it needs more. `bytes` counts what the process allocates from now on. Returns undefined, or the reason for
 * which this machine cannot limit it: another system than Linux, or no right to make groups.
 */
export function limitMemory(pid: number, bytes: number): string | undefined {
  const version = versions.find(({ root, sign }) => existsSync(join(root, sign)))
  if (!version) return 'this machine has no control groups'
  const group = groupOf(version.root, pid)
  try {
    mkdirSync(group)
    writeFileSync(join(group, version.limit), String(bytes))
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
    return undefined
  } catch (error) {
    return String(error)
  }
}

/** Removes the group of an ended process. */
export function removeLimit(pid: number): void {
  for (const { root } of versions) if (existsSync(groupOf(root, pid))) rmdirSync(groupOf(root, pid))
}

const groupOf = (root: string, pid: number): string => join(root, `quartermaster-bench-${pid}`)
