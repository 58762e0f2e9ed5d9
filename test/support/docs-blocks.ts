/** A fenced block of a page: its language and the marks in its opening line. */
export interface Block {
  readonly page: string
  /** The line of the page that opens the block, from 1. */
  readonly line: number
  readonly language: string
  /**
   * `not-run="why"`; `keeps-running`: in another terminal; `receiver`: the final output of that terminal; `file="…"`:
   * the complete content of a file of the page; `continues`: not run, uses the page's program above.
   */
  readonly marks: Readonly<Record<string, string>>
  readonly text: string
}

/** A block that runs, with its output on the page. */
export interface Example {
  readonly block: Block
  readonly answer: Block | undefined
}

const fence = /^```(\S+)([^\n]*)\n([\s\S]*?)^```$/gm
const mark = /([\w-]+)(?:="([^"]*)")?/g
export const answerLanguages = ['json', 'http', 'text']

/** Returns all fenced blocks of a page, in order. */
export function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(fence)].map((match) => {
    const [, language = '', rest = '', inside = ''] = match
    const marks = Object.fromEntries([...rest.matchAll(mark)].map(([, name = '', value = '']) => [name, value]))
    return { page, line: text.slice(0, match.index).split('\n').length, language, marks, text: inside }
  })
}

/** Returns the blocks that run, each with the answer below it. Throws if a block would be in no test. */
export function examplesOf(blocks: readonly Block[]): Example[] {
  return blocks.flatMap((block, place) => {
    const { page, line, language, marks } = block
    if (reasonOf(block) !== undefined || marks['file'] !== undefined) return []
    if (['sh', 'ts'].includes(language)) {
      const next = blocks[place + 1]
      const isAnswer = next && answerLanguages.includes(next.language) && reasonOf(next) === undefined
      return [{ block, answer: isAnswer && next.marks['receiver'] === undefined ? next : undefined }]
    }
    const before = blocks[place - 1]
    const follows = answerLanguages.includes(language) && before !== undefined && ['sh', 'ts'].includes(before.language)
    if (!follows) throw new Error(`${page}:${line}: a block of ${language} that no test runs has to say not-run="why".`)
    return marks['receiver'] === undefined ? [] : [{ block, answer: undefined }]
  })
}

/** Returns the reason why a block does not run, if it has one. */
export const reasonOf = ({ marks }: Block): string | undefined => marks['not-run']
