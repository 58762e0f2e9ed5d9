import { setFlagsFromString } from 'node:v8'

/**
 * Lets the process use the compiled code of Node's own modules, which Node contains. V8 refuses it while certain flags
 * differ from their defaults, such as `--initial-heap-size` of `npm start`, which had its whole effect before this call
 * (https://nodejs.org/api/v8.html#v8cacheddataversiontag).
 */
export function useCompiledCode(): void {
  setFlagsFromString('--initial-heap-size=0')
}

/**
 * Makes V8 collect garbage each time that the heap has grown by a fifth. Otherwise it does so after hundreds of megabytes
 * on a machine with much memory.
 */
export function collectOften(): void {
  setFlagsFromString('--heap-growing-percent=20')
}
