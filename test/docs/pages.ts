import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/paths.ts'

/** A page of the documentation. */
export interface Page {
  /** Relative to the repository. */
  readonly path: string
  readonly text: string
}

/** A block of code: its language, what else stands on its first line, and its text. */
export interface Block {
  readonly language: string
  readonly mark: string
  readonly code: string
}

/** All pages for people. */
export function pages(): Page[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  const paths = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs.sort().map((name) => `docs/${name}`)]
  return paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** The blocks of code of a page. */
export function blocksIn({ text }: Page): Block[] {
  const fenced = text.matchAll(/^```(?<language>\w*) *(?<mark>[^\n]*)\n(?<code>[^]*?)^```$/gm)
  return [...fenced].map(({ groups }) => ({
    language: groups?.['language'] ?? '',
    mark: groups?.['mark'] ?? '',
    code: groups?.['code'] ?? '',
  }))
}

/** The page without its blocks of code. */
export function proseOf({ text }: Page): string {
  return text.replace(/^```[^]*?^```$/gm, '')
}

/** Code in the middle of sentences. */
export function inlineCode(page: Page): string[] {
  return [...proseOf(page).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replace(/\s+/g, ' '))
}
