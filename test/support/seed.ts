import { randomInt } from 'node:crypto'

/**
 * The seed of a file's properties: random for each run, or `TEST_SEED`. fast-check prints it with the smallest
 * counterexample when a property fails.
 */
export const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))
console.info(`seed ${seed} (TEST_SEED=${seed} repeats this run)`)
