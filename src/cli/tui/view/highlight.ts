import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import kotlin from 'highlight.js/lib/languages/kotlin'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { appendText, type StyledLine, type StyledSpan, type TextTone } from '../term/styled-line.ts'
import { MAX_HIGHLIGHTED_CHARS } from './markdown-stream.ts'

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
}
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

/** Code with tones, line by line; undefined for an unknown language. */
export function highlightCode(code: string, language: string): StyledLine[] | undefined {
  if (code.length > MAX_HIGHLIGHTED_CHARS || !hljs.getLanguage(language)) return undefined
  const lines: StyledSpan[][] = [[]]
  const tones: (TextTone | undefined)[] = []
  // The library writes HTML with tags and five entities.
  for (const [piece] of hljs.highlight(code, { language, ignoreIllegals: true }).value.matchAll(/<[^>]*>|[^<]+/g)) {
    if (piece.startsWith('</')) tones.pop()
    else if (piece.startsWith('<')) tones.push(TOKEN_TONES[/hljs-([a-z_]+)/.exec(piece)?.[1] ?? ''] ?? tones.at(-1))
    else appendText(lines, unescapeHtml(piece), tones.at(-1))
  }
  return lines
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

function unescapeHtml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#x27);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}

const TOKEN_TONES: Readonly<Record<string, TextTone>> = {
  keyword: 'keyword',
  built_in: 'name',
  type: 'name',
  literal: 'number',
  number: 'number',
  string: 'string',
  regexp: 'string',
  comment: 'comment',
  title: 'name',
  attr: 'name',
  attribute: 'name',
  tag: 'keyword',
  name: 'keyword',
  section: 'heading',
  addition: 'added',
  deletion: 'removed',
  meta: 'quiet',
}
