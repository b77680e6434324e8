import { fileURLToPath } from 'node:url'
import grammar from 'tree-sitter-bash/tree-sitter-bash.wasm'
import { Language, Parser, type TreeCursor } from 'web-tree-sitter'
import engine from 'web-tree-sitter/web-tree-sitter.wasm'
import type { ShellParser, SyntaxNode } from './syntax-tree.ts'

/** Loads the parser. This takes about 20 ms, so it is done at the first command. */
export async function loadBashParser(): Promise<ShellParser> {
  // Without a timer that keeps the event loop alive, Node would wait half a second here for the engine to be
  // optimized.
  const keepAliveTimer = setTimeout(() => undefined, 60_000)
  const wasm = resolveAsset(engine)
  await Parser.init(typeof wasm === 'string' ? { locateFile: () => wasm } : { wasmBinary: wasm })
  const language = await Language.load(resolveAsset(grammar))
  clearTimeout(keepAliveTimer)
  const parser = new Parser()
  parser.setLanguage(language)

  return (text) => {
    const start = process.cpuUsage()
    const tree = parser.parse(text, null, { progressCallback: () => getCpuMs(start) > MAX_PARSE_MS })
    if (!tree) {
      parser.reset()
      return undefined
    }
    try {
      const cursor = tree.walk()
      try {
        return copyTree(cursor, text, { left: MAX_NODES }, 0)
      } finally {
        cursor.delete()
      }
    } finally {
      tree.delete()
    }
  }
}

const MAX_PARSE_MS = 500

/** Processor time: on a busy machine, a harmless command may take long, and is not refused for it. */
function getCpuMs(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
const MAX_NODES = 50_000
const MAX_DEPTH = 400

/**
 * Copies the tree to plain values, so that its memory can be freed. Returns undefined if it is too large or too deep.
 */
function copyTree(cursor: TreeCursor, source: string, budget: { left: number }, depth: number): SyntaxNode | undefined {
  if (--budget.left < 0 || depth > MAX_DEPTH) return undefined
  const { nodeType: kind, nodeText: text, nodeIsNamed: isNamed, startIndex: start, endIndex: end } = cursor
  const hasError = kind === 'ERROR' || cursor.nodeIsMissing || (kind === 'comment' && !isWordStart(source, start))
  const children: SyntaxNode[] = []
  if (cursor.gotoFirstChild()) {
    do {
      const child = copyTree(cursor, source, budget, depth + 1)
      if (!child) return undefined
      children.push(child)
    } while (cursor.gotoNextSibling())
    cursor.gotoParent()
  }
  return { kind, text, isNamed, start, end, hasError: hasError || children.some((child) => child.hasError), children }
}

/**
 * Can a word begin here? After a bracket or inside a word, the parser treats `#` as a comment; bash does not, and runs
 * the rest.
 */
function isWordStart(source: string, at: number): boolean {
  let from = at
  while (source.startsWith('\\\n', from - 2)) from -= 2
  return /(?:^|(?<!\\)(?:\\\\)*[\s;|&(])$/.test(source.slice(Math.max(from - 100, 0), from))
}

/** A file beside the bundle, wherever the bundle lies; or the bytes, which the library contains. */
function resolveAsset(asset: string | Uint8Array): string | Uint8Array {
  return typeof asset === 'string' ? fileURLToPath(new URL(asset, import.meta.url)) : asset
}
