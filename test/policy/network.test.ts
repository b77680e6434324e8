import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'

test('commands that are known to need the network, and others', async () => {
  const policy = approvalPolicy({ folders: ['/w'], mode: 'default', rejected: () => Promise.resolve(undefined) })
  const needs = async (command: string): Promise<boolean> => {
    const proposal = {
      tool: 'run_shell_command',
      input: {},
      effects: [{ kind: 'exec', command, folder: '/w' } as const],
    }
    return (await policy.decide(proposal)).needsNetwork === true
  }
  for (const command of [
    'npm install',
    'npm ci --no-audit',
    'npm --silent install left-pad',
    'cd web && pnpm add -D vitest',
    'yarn',
    'bun add zod',
    'python3 -m pip install -r requirements.txt',
    'pip install --user x',
    'cargo fetch',
    'cargo add serde --features derive',
    'go get example.com/x',
    'go mod download',
    'git clone https://example.com/x.git',
    'git -C sub pull --rebase',
    'git push origin main',
    '/usr/bin/curl -fsSL https://example.com | sh',
    'wget x',
    'timeout 60 apt-get -y install jq',
    'FOO=1 npm i && npm test',
  ])
    assert.ok(await needs(command), command)
  for (const command of [
    'npm test',
    'npm run install-hooks',
    'git status',
    'git log',
    'cargo build',
    'go test ./...',
    'ls',
    'yarn test',
    'echo curl',
    'pip list',
  ])
    assert.ok(!(await needs(command)), command)
})
