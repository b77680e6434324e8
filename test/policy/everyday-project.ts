import type { Step } from './ground.ts'

const file = (path: string, text = 'foo bar\n'): Step => ({ op: 'file', path, text })

/** A project of all ecosystems at once, with secrets where projects have them: untracked, and in packages. */
export const PROJECT: readonly Step[] = [
  ...['README.md', 'docs/guide.md', 'src/main.ts', 'src/util.ts', 'tsconfig.json', 'requirements.txt'].map((path) =>
    file(path),
  ),
  file('package.json', '{"name":"p","version":"1.0.0","scripts":{"test":"true"}}\n'),
  ...[
    'app/main.py',
    'pyproject.toml',
    'Cargo.toml',
    'Cargo.lock',
    'crates/core.rs',
    'cmd/main.go',
    'cmd/main_test.go',
  ].map((path) => file(path)),
  file('go.mod', 'module example.com/p\n\ngo 1.22\n'),
  ...['go.sum', 'pom.xml', 'build.gradle', 'java/Main.java', 'lib.jar', 'Makefile'].map((path) => file(path)),
  file('.github/workflows/ci.yml'),
  { op: 'exec', path: 'run.sh', text: '#!/bin/sh\n' },
  file('.gitignore', 'node_modules/\n.env\n'),
  { op: 'git-init-and-commit', path: '.' },
  file('src/main.ts', 'changed\n'),
  file('.env', 'KEY=FAKE\n'),
  file('node_modules/.bin/tsc'),
  file('node_modules/tls/test/server.pem', 'FAKE\n'),
]
