// Builds the files of the inspector's page for the browser. A source that imports #inspector-page/app.js gets the path of the file.
import { inRoot, root } from './files.mjs'
import { usedInputs } from './used-inputs.mjs'

const folder = 'src/gateway/inspector/page'

/** The files that the page was made from, for the notices. */
export const pageInputs = new Set()

let built

export const inspectorPage = {
  name: 'inspector-page',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#inspector-page\// }, ({ path }) => ({
      path: inRoot(folder, `inspector-${path.slice('#inspector-page/'.length)}`),
      namespace: 'inspector-page',
    }))
    onLoad({ filter: /./, namespace: 'inspector-page' }, async ({ path }) => {
      built ??= buildPage()
      const files = await built
      return { contents: files[path.endsWith('.css') ? 'css' : 'js'], loader: 'file' }
    })
  },
}

async function buildPage() {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { app: `${folder}/main.tsx` },
    outdir: 'page',
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
    metafile: true,
    logLevel: 'warning',
  })
  for (const output of Object.values(metafile.outputs)) for (const path of usedInputs(output)) pageInputs.add(path)
  const contentOf = (end) => outputFiles.find(({ path }) => path.endsWith(end)).contents
  return { js: contentOf('app.js'), css: contentOf('app.css') }
}
