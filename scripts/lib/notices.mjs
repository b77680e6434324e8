// THIRD-PARTY-NOTICES: the licences of the packages whose code is in the bundle.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { inRoot } from './files.mjs'

/** The text of the notices for all packages among the files that a bundle was made from. */
export function noticesOf(inputs) {
  const packages = [...new Set(inputs.map(packageOf).filter((folder) => folder !== undefined))].map(read)
  packages.sort((one, other) => (one.title < other.title ? -1 : 1))
  const sections = packages.map(({ title, about, texts }) => [RULE, title, ...about, '', ...texts].join('\n'))
  return `${HEAD}\n${sections.join('\n')}`
}

const HEAD = `Dragoman contains code of the packages below, each under its own licence.
This file is made by the build from the packages themselves.
`
const RULE = '='.repeat(80)

/** The folder of the package that a file belongs to: the nearest above it whose package.json has a name and a version. */
function packageOf(path) {
  const at = path.lastIndexOf('node_modules/')
  if (at < 0) return undefined
  for (let folder = dirname(path); folder.length > at + 'node_modules'.length; folder = dirname(folder)) {
    const { name, version } = manifestIn(folder)
    if (name && version) return folder
  }
  throw new Error(`${path} belongs to no package`)
}

function manifestIn(folder) {
  const file = inRoot(folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

function read(folder) {
  const { name, version, license, homepage, repository, author } = manifestIn(folder)
  const where = homepage ?? (typeof repository === 'string' ? repository : repository?.url)
  const by = typeof author === 'string' ? author : author?.name
  const texts = readdirSync(inRoot(folder))
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file) && !/\.(?:[cm]?[jt]s|json)$/i.test(file))
    .sort()
    .map((file) => `${readFileSync(inRoot(folder, file), 'utf8').replaceAll('\r\n', '\n').trim()}\n`)
  // Some packages name their licence and leave its text out.
  const text = texts.length > 0 ? texts : [standardText(license, by, name)]
  const about = [`Licence: ${license}`, ...(where ? [where] : [])]
  return { title: `${name} ${version}`, about, texts: text }
}

/** The text of a licence that a package names but does not contain. */
function standardText(license, author, name) {
  if (license === 'Apache-2.0') return readFileSync(inRoot('LICENSE'), 'utf8')
  if (!Object.hasOwn(TEXTS, license))
    throw new Error(`${name} has no licence file, and there is no text for ${license}: see scripts/lib/notices.mjs`)
  return TEXTS[license].replace('{author}', author ?? `the authors of ${name}`)
}

const TEXTS = {
  ISC: `Copyright (c) {author}

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided
that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT,
NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`,
  MIT: `Copyright (c) {author}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software
is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES
OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`,
}
