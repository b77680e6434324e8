import { fileURLToPath } from 'node:url'
import grammarPath from 'tree-sitter-bash/tree-sitter-bash.wasm'
import { Language, Parser, type TreeCursor } from 'web-tree-sitter'
import enginePath from 'web-tree-sitter/web-tree-sitter.wasm'
import type { Parse, Syntax } from './syntax.ts'

/** Loads the parser; this takes some 20 ms, so it is done at the first command. */
export async function loadParser(): Promise<Parse> {
  // While nothing else keeps Node's loop alive, it would wait here until the engine has also been optimised: half a second.
  const awake = setTimeout(() => undefined, 60_000)
  await Parser.init({ locateFile: () => placeOf(enginePath) })
  const language = await Language.load(placeOf(grammarPath))
  clearTimeout(awake)
  const parser = new Parser()
  parser.setLanguage(language)

  return (text) => {
    const until = performance.now() + MAX_MS
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > until })
    if (!tree) {
      parser.reset()
      return undefined
    }
    try {
      const cursor = tree.walk()
      try {
        return copy(cursor, text, { left: MAX_NODES }, 0)
      } finally {
        cursor.delete()
      }
    } finally {
      tree.delete()
    }
  }
}

const MAX_MS = 500
const MAX_NODES = 50_000
const MAX_DEPTH = 400

/** The tree as plain values, so that its memory can be given back; nothing if it is too large or too deep to be judged. */
function copy(cursor: TreeCursor, source: string, budget: { left: number }, depth: number): Syntax | undefined {
  if (--budget.left < 0 || depth > MAX_DEPTH) return undefined
  const { nodeType: kind, nodeText: text, nodeIsNamed: named, startIndex: start, endIndex: end } = cursor
  const wrong = kind === 'ERROR' || cursor.nodeIsMissing || (kind === 'comment' && !beginsWord(source, start))
  const children: Syntax[] = []
  if (cursor.gotoFirstChild()) {
    do {
      const child = copy(cursor, source, budget, depth + 1)
      if (!child) return undefined
      children.push(child)
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }
  return { kind, text, named, start, end, wrong: wrong || children.some((child) => child.wrong), children }
}

/**
 * Can a word begin here? Behind a bracket or in a word, the parser takes `#` for the beginning of a comment; bash does not,
 * and runs what comes after it.
 */
function beginsWord(source: string, at: number): boolean {
  let from = at
  while (source.startsWith('\\\n', from - 2)) from -= 2
  return /(?:^|(?<!\\)(?:\\\\)*[\s;|&(])$/.test(source.slice(Math.max(from - 100, 0), from))
}

/** A file beside the bundle, wherever the bundle lies. */
function placeOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
