import { createHash } from 'node:crypto'
import project from '../package.json' with { type: 'json' }
import recorded from './content.json' with { type: 'json' }

/** The three numbers of the app's version: the product, the product's part of the package, the organisation's part. */
type Version = readonly [product: number, content: number, organisation: number]
/** The comparison of a package with the catalogue: the same content, an update, or older than the published package. */
export type Standing = 'same' | 'update' | 'older'

/** The number of different marks for an organisation's values. A later change gets a higher generation of its mark. */
const marks = 100_000
const [product = 0] = project.version.split('.').map(Number)

export const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex')

/**
 * Returns the number of this content of the product: the number in `content.json`, or the next number for other content.
 * `npm run manifest` writes the file and a test checks it, so each change has a higher number on every machine.
 */
export const contentNumber = (sha256: string): number =>
  sha256 === recorded.sha256 ? recorded.number : recorded.number + 1

/**
 * Returns the version of a package with this content. `published` is the version in the catalogue or of the last package.
 * Equal content has the same version, and other content has a higher version, except content of an older product.
 */
export function versionOf(content: { sha256: string; organisation: unknown }, published?: string): string {
  const number = contentNumber(content.sha256)
  const mark = Number.parseInt(hashOf(JSON.stringify(content.organisation)).slice(0, 12), 16) % marks
  const before = published === undefined ? undefined : parse(published)
  if (before?.[0] !== product || before[1] !== number) return [product, number, mark].join('.')
  const generation = Math.floor(before[2] / marks) + (before[2] % marks > mark ? 1 : 0)
  return [product, number, generation * marks + mark].join('.')
}

export function standingOf(version: string, published: string): Standing {
  const [own, other] = [parse(version), parse(published)]
  const at = own.findIndex((number, index) => number !== other[index])
  if (at === -1) return 'same'
  return Number(own[at]) > Number(other[at]) ? 'update' : 'older'
}

export const higherOf = (one: string, other: string): string => (standingOf(one, other) === 'older' ? other : one)

const pattern = /^(\d{1,10})\.(\d{1,10})\.(\d{1,10})$/
export const isVersion = (text: string): boolean => pattern.test(text)

function parse(version: string): Version {
  const [, first, second, third] = pattern.exec(version) ?? []
  if (third === undefined)
    throw new Error(`“${version}” is not a version of the app. A version has three numbers: 0.2.48213.`)
  return [Number(first), Number(second), Number(third)]
}
