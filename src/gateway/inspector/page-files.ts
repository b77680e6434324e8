import script from '#inspector-page/app.js'
import styles from '#inspector-page/app.css'
import { readBundledFile } from '../../host/files/bundled-file.ts'
import { lazy } from '../../model/lazy.ts'

export interface PageFile {
  readonly type: string
  readonly content: string | Buffer
}

/** The files of the page, by path; undefined if there is none. They are built with the package. */
export async function readPageFile(path: string): Promise<PageFile | undefined> {
  if (path === '') return { type: 'text/html; charset=utf-8', content: PAGE }
  if (path === 'app.js') return { type: 'text/javascript; charset=utf-8', content: await readScript() }
  if (path === 'app.css') return { type: 'text/css; charset=utf-8', content: await readStyles() }
  if (path === 'icon.svg') return { type: 'image/svg+xml', content: ICON }
  return undefined
}

// The paths are relative to this file, wherever the bundle lies.
const readScript = lazy(() => readBundledFile(new URL(script, import.meta.url)))
const readStyles = lazy(() => readBundledFile(new URL(styles, import.meta.url)))

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dragoman inspector</title>
<link rel="icon" href="/inspector/icon.svg">
<link rel="stylesheet" href="/inspector/app.css">
<script type="module" src="/inspector/app.js"></script>
</head>
<body><div id="app"></div><noscript>The inspector needs JavaScript.</noscript></body>
</html>
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#5b5bd6"/><path d="M4 4.5h8M4 8h5.5M4 11.5h3" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg>
`
