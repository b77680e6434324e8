import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const HELLO = [{ loop: [{ say: 'Hello yourself.' }] }]
const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')

const texts = (here: Awaited<ReturnType<typeof stage>>) => here.server.requests.map(({ bytes }) => bytes.toString())

describe('what users of other agents are used to', () => {
  test('CLAUDE.md is read where no AGENTS.md stands beside it', async () => {
    const here = await stage(HELLO)
    mkdirSync(join(here.work, '.git'))
    mkdirSync(join(here.work, 'sub'))
    writeFileSync(join(here.work, 'AGENTS.md'), 'RULE-AGENTS')
    writeFileSync(join(here.work, 'CLAUDE.md'), 'RULE-CLAUDE-ABOVE')
    writeFileSync(join(here.work, 'sub/CLAUDE.md'), 'RULE-CLAUDE-BELOW')
    await dragoman(['-p', 'hi', '--cwd', 'sub'], here)
    const [first = ''] = texts(here)
    assert.ok(first.includes('RULE-AGENTS'))
    assert.ok(first.includes('RULE-CLAUDE-BELOW'))
    assert.ok(!first.includes('RULE-CLAUDE-ABOVE'))
  })

  test('-c and --continue go on with the latest session', async () => {
    const here = await stage(HELLO)
    await dragoman(['-p', 'the first thing'], here)
    for (const flag of ['-c', '--continue']) {
      const { code, err } = await dragoman([flag, '-p', `and ${flag}`], here)
      assert.equal(code, 0, err)
      assert.ok(texts(here).at(-1)?.includes('the first thing'), flag)
    }
    const { code, err } = await dragoman(['-c', '--fork', '-p', 'x'], here)
    assert.equal(code, 42)
    assert.match(err, /--resume or --fork/)
  })

  test('the servers in .mcp.json of a trusted project are started, with variables filled in', async () => {
    const here = await stage(HELLO)
    const servers = {
      pond: { command: '${NODE}', args: [FIXTURE, '${MODE:-advises}'], env: { WORD: '${WORD}' } },
      gone: { type: 'http', url: 'http://127.0.0.1:9/${NOT_SET:-mcp}' },
    }
    writeFileSync(join(here.work, '.mcp.json'), JSON.stringify({ mcpServers: servers }))
    const env = { ...here.env, NODE: process.execPath, WORD: 'w' }
    const before = await dragoman(['-p', 'hi'], { ...here, env })
    assert.match(before.err, /\.mcp\.json are ignored because this folder is not trusted/)
    assert.doesNotMatch((await dragoman(['mcp', 'list'], { ...here, env })).out, /pond/)
    await dragoman(['trust', '--yes'], here)
    const listed = await dragoman(['mcp', 'list'], { ...here, env })
    assert.match(listed.out, /^pond: ready/m)
    assert.match(listed.out, /^gone: failed/m)
    const after = await dragoman(['-p', 'hi'], { ...here, env })
    assert.doesNotMatch(after.err, /not used/)
    const last = texts(here).at(-1) ?? ''
    assert.match(last, /"name":"echo"/, 'its tools are declared')
    assert.match(last, /Feed the heron first/)
    // A change of the file needs the person's word again.
    writeFileSync(join(here.work, '.mcp.json'), JSON.stringify({ mcpServers: { other: servers.pond } }))
    assert.match((await dragoman(['-p', 'hi'], { ...here, env })).err, /not trusted/)
  })

  for (const words of [
    ['modls'],
    ['lgoin'],
    ['hlep'],
    ['verison'],
    ['mpc'],
    ['instal'],
    ['hello'],
    ['--yolo', 'lgoin'],
    ['-o', 'json', 'sesions'],
  ])
    test(`a bare word is not sent to a model: ${words.join(' ')}`, async () => {
      const here = await stage(HELLO)
      const { code, err } = await dragoman(words, here)
      assert.equal(code, 42)
      assert.match(
        err,
        /unknown command \w+; (?:did you mean|see dragoman --help).*To send it as a prompt: dragoman -p/,
      )
      assert.equal(here.server.requests.length, 0)
    })

  for (const [typed, meant] of [
    ['modls list', 'models'],
    ['lgoin openai', 'login openai'],
    ['sesions show', 'sessions show'],
    ['polcy explain', 'policy explain'],
    ['completon zsh', 'completion zsh'],
    ['sesion list', 'sessions list'],
    ['mpc list', 'mcp list'],
    ['logut openai', 'logout openai'],
    ['lgoin opnai', 'login openai'],
    ['docter local', 'doctor --local'],
    ['sesions lst', 'sessions list'],
    ['help modls', 'help models'],
    ['hlep models', 'help models'],
    ['list sessions', 'sessions list'],
    ['list models', 'models'],
    ['show config', 'config show'],
  ] as const)
    test(`two words that are nearly a command are not sent to a model: ${typed}`, async () => {
      const here = await stage(HELLO)
      const { code, err } = await dragoman(typed.split(' '), here)
      assert.equal(code, 42)
      const [first] = typed.split(' ')
      assert.ok(
        err.includes(
          `unknown command ${first}; did you mean ${meant}? To send it as a prompt: dragoman -p "${typed} …"`,
        ),
      )
      assert.equal(here.server.requests.length, 0)
    })

  test('help and version are answered, and a word with something piped in is a prompt, unless it is nearly a command', async () => {
    const here = await stage(HELLO)
    for (const word of ['help', 'version']) assert.equal((await dragoman([word], here)).code, 0)
    const { code } = await dragoman(['lgoin'], here, { input: 'sk-something' })
    assert.equal(code, 42)
    assert.equal(here.server.requests.length, 0)
    assert.equal((await dragoman(['review'], here, { input: 'a diff' })).code, 0)
    assert.equal((await dragoman(['-p', 'modls'], here)).code, 0)
    assert.equal((await dragoman(['fix', 'it'], here)).code, 0)
    const prompts = [
      ['model', 'weights'],
      ['write', 'tests'],
      ['fix', 'bug'],
      ['help', 'me', 'out'],
    ]
    for (const words of prompts) assert.equal((await dragoman(words, here)).code, 0)
    assert.equal(here.server.requests.length, 3 + prompts.length)
  })

  for (const words of [
    ['exec', 'fix it'],
    ['exec', '--yolo', 'fix'],
    ['--print', 'fix'],
  ])
    test(`one answer, as Codex and Claude Code are asked for it: ${words.join(' ')}`, async () => {
      const here = await stage(HELLO)
      const { code, out, err } = await dragoman(words, here)
      assert.equal(code, 0, err)
      assert.match(out, /Hello yourself/)
      assert.doesNotMatch(texts(here)[0] ?? '', /exec fix/)
    })

  for (const [flag, ours] of [
    ['--ask-for-approval', '--approval-mode'],
    ['--full-auto', '--approval-mode auto_edit'],
    ['--dangerously-bypass-approvals-and-sandbox', '--yolo --sandbox off'],
    ['--debug', '--trace'],
    ['--json', '--output-format stream-json'],
    ['--fallback-model', '--model first,second'],
    ['--session-id', '--resume'],
    ['--fork-session', '--fork'],
    ['--input-format', '-p'],
    ['--settings', 'dragoman config path'],
    ['--agents', '.dragoman/agents'],
    ['--list-sessions', 'dragoman sessions list'],
    ['--prompt-interactive', 'without an option'],
    ['-i', '@picture.png'],
    ['-s', '--sandbox'],
    ['--oss', 'ollama/'],
    ['--plugin-dir', 'there are no plugins'],
  ] as const)
    test(`an option of another agent leads to ours: ${flag}`, async () => {
      const here = await stage(HELLO)
      const { code, err } = await dragoman([flag, '-p', 'go'], here)
      assert.equal(code, 42)
      assert.ok(err.includes(`unknown option ${flag}; `) && err.includes(ours), err)
      assert.equal(here.server.requests.length, 0)
    })

  for (const words of [
    ['--dangerously-skip-permissions', '-p', 'go'],
    ['--permission-mode', 'bypassPermissions', '-p', 'go'],
    ['--permission-mode=bypassPermissions', '-p', 'go'],
    ['--allowedTools', 'Bash(touch:*)', '-p', 'go'],
    ['-p', 'go', '--allowedTools', 'Read', 'Bash(touch:*)'],
    ['--allowedTools', 'Read', 'Bash(touch:*)', 'Grep', '--output-format', 'stream-json', '--verbose', '-p', 'go'],
    ['-p', '--output-format', 'json', '--yolo', 'go'],
    ['--yolo', '--max-turns', '5', 'go', '-p'],
    ['e', '--yolo', 'go'],
    ['exec', '-C', '.', '--yolo', 'go'],
    ['-y', '--add-dir', '.', '..', '-p', 'go'],
  ])
    test(`an option of another agent that means the same works: ${words.join(' ')}`, async () => {
      const here = await stage([
        { call: [{ name: 'run_shell_command', args: { command: 'touch made' } }] },
        { say: 'Done.' },
      ])
      const { code, err } = await dragoman(words, here)
      assert.equal(code, 0, err)
      assert.ok(existsSync(join(here.work, 'made')), err)
      assert.match(texts(here)[0] ?? '', /"go"|go$/m)
    })

  test('edits are accepted, plan mode refuses, and what is disallowed is refused, by the names of Claude Code', async () => {
    const write = { call: [{ name: 'write_file', args: { file_path: '{cwd}/made', content: 'x' } }] }
    for (const [words, isMade] of [
      [['--permission-mode', 'acceptEdits'], true],
      [['--permission-mode', 'plan'], false],
      [['--yolo', '--disallowedTools', 'Write', 'Bash(git push:*)'], false],
      [['--yolo', '--disallowedTools', 'Bash(git push:*),Edit'], true],
    ] as const) {
      const here = await stage([write, { say: 'Done.' }])
      const { code, err } = await dragoman([...words, '-p', 'go'], here)
      assert.equal(code, 0, err)
      assert.equal(existsSync(join(here.work, 'made')), isMade, words.join(' '))
    }
    const here = await stage(HELLO)
    const { code, err } = await dragoman(['--permission-mode', 'dontAsk', '-p', 'go'], here)
    assert.equal(code, 42)
    assert.match(err, /must be one of default, auto_edit, yolo, plan/)
  })

  test('standard input is the prompt after -p alone, and a prompt may begin with a dash', async () => {
    const here = await stage(HELLO)
    assert.equal((await dragoman(['-p'], here, { input: 'from a pipe' })).code, 0)
    assert.equal((await dragoman(['-p', '- one\n- two'], here)).code, 0)
    assert.match(texts(here)[0] ?? '', /from a pipe/)
    assert.match(texts(here)[1] ?? '', /- one/)
  })

  test('the system prompt as text, and added to', async () => {
    const here = await stage(HELLO)
    await dragoman(['-p', 'go', '--append-system-prompt', 'BE-SHORT'], here)
    await dragoman(['-p', 'go', '--system-prompt', 'ONLY-THIS', '--append-system-prompt', 'AND-THAT'], here)
    const [first = '', second = ''] = here.server.requests.map(({ bytes }) => bytes.toString())
    assert.match(first, /BE-SHORT/)
    assert.match(second, /"ONLY-THIS\\n\\nAND-THAT\\n"/)
  })

  test('--mcp-config takes servers from a file or from JSON', async () => {
    const here = await stage([{ call: [{ name: 'mcp__pond__add', args: { a: 1, b: 2 } }] }, { say: 'Done.' }])
    const servers = { mcpServers: { pond: { command: process.execPath, args: [FIXTURE] } } }
    writeFileSync(join(here.work, 'servers.json'), JSON.stringify(servers))
    for (const value of ['servers.json', JSON.stringify(servers)]) {
      const { code, err } = await dragoman(['-p', 'go', '--yolo', '--mcp-config', value], here)
      assert.equal(code, 0, err)
      assert.match(JSON.stringify(here.server.requests.at(-1)?.conversation), /mcp__pond__|pond/)
    }
    const { code, err } = await dragoman(['-p', 'go', '--mcp-config', 'gone.json'], here)
    assert.equal(code, 42)
    assert.match(err, /gone\.json cannot be read/)
  })

  for (const [words, sentence] of [
    [['exec', '-c', 'model=gpt-5', 'fix it'], /-c continues the latest session/],
    [['exec', '-a', 'never', 'fix it'], /-a sends all files/],
    [['skills', 'list'], /unknown command skills; .*\/skills/],
    [['extensions', 'install', '--x'], /there are no extensions/],
    [['plugin', 'marketplace'], /there are no plugins/],
    [['resume'], /dragoman --resume/],
    [['update'], /git pull/],
    [['--verbose', '-p', 'x'], /--verbose belongs to --output-format stream-json/],
    [['--model', 'sonnet', '-p', 'x'], /such as anthropic\/claude-sonnet-\S+; dragoman models lists them\.\s*$/],
  ] as const)
    test(`what means something else in another agent is not sent: ${words.join(' ')}`, async () => {
      const here = await stage(HELLO)
      const { code, err } = await dragoman(words, here)
      assert.equal(code, 42, err)
      assert.match(err, sentence)
      assert.equal(here.server.requests.length, 0)
    })

  for (const [flag, runs] of [
    ['Bash', true],
    ['ShellTool', true],
    ['Read Bash(touch:*) Grep', true],
    ['Bash(touch made)', true],
    ['Bash(touch other)', false],
    ['Shell', true],
    ['ShellTool(touch)', true],
    ['run_terminal_cmd', true],
    ['local_shell(touch)', true],
    ['apply_patch', false],
    ['ls', false],
    ['Edit,Write', false],
  ] as const)
    test(`--allowed-tools "${flag}" is translated`, async () => {
      const here = await stage([
        { call: [{ name: 'run_shell_command', args: { command: 'touch made' } }] },
        { say: 'Done.' },
      ])
      const { code, err } = await dragoman(['-p', 'go', '--sandbox', 'off', '--allowed-tools', flag], here)
      assert.equal(code, 0, err)
      assert.equal(existsSync(join(here.work, 'made')), runs)
    })

  for (const [flag, sentence] of [
    ['NotebookEdit', /there is no tool NotebookEdit here/],
    ['todowrite', /there is no tool todowrite here/],
    ['exit_plan_mode', /there is no tool exit_plan_mode here/],
    ['view', /“view” is not a tool here; write read_file for the tool/],
    ['bash', /“bash” is not a tool here; write run_shell_command for the tool/],
    ['read_fil', /there is no tool read_fil; did you mean read_file\?/],
    ['Bsah', /there is no tool Bsah/],
  ] as const)
    test(`--allowed-tools ${flag} is refused with a sentence`, async () => {
      const here = await stage(HELLO)
      const { code, err } = await dragoman(['-p', 'go', '--allowed-tools', flag], here)
      assert.equal(code, 42)
      assert.match(err, sentence)
      assert.equal(here.server.requests.length, 0)
    })

  test('the list of models begins with those that people use', async () => {
    const here = await stage(HELLO)
    const env = { ...here.env, OPENROUTER_API_KEY: 'k', DRAGOMAN_OPENROUTER_BASE_URL: 'http://127.0.0.1:9' }
    const { out } = await dragoman(['models', 'openrouter', '--json'], { ...here, env })
    const { providers } = JSON.parse(out) as { providers: { models: { id: string }[] }[] }
    const ids = providers[0]?.models.map(({ id }) => id) ?? []
    const first = (maker: string) => ids.findIndex((id) => id.startsWith(`${maker}/`))
    assert.ok(ids.length > 100)
    assert.ok(first('anthropic') < 10 && first('anthropic') < first('openai') && first('openai') < first('google'))
    assert.ok(first('ai21') === -1 || first('google') < first('ai21'))
    const short = await dragoman(['models'], { ...here, env })
    assert.match(short.out, /openrouter\/anthropic\/claude/, 'more than one of a long list is shown')
  })
})

describe('save_memory without a person', () => {
  const steps = [
    { call: [{ name: 'save_memory', args: { fact: 'Tabs are preferred.' } }] },
    { loop: [{ say: 'Done.' }] },
  ]
  const file = (home: string) => join(home, '.config/dragoman/memory.md')

  for (const [flags, isKept] of [
    [['--yolo'], true],
    [['--allowed-tools', 'save_memory'], true],
    [[], false],
    [['--approval-mode', 'plan'], false],
  ] as const)
    test(`with ${flags.join(' ') || 'no options'}: ${isKept ? 'kept' : 'refused'}`, async () => {
      const here = await stage(steps)
      const { code } = await dragoman(['-p', 'remember that I like tabs', ...flags], here)
      assert.equal(code, 0)
      assert.equal(existsSync(file(here.home)), isKept)
      if (!isKept) return
      assert.equal(readFileSync(file(here.home), 'utf8'), '## Memories\n- Tabs are preferred.\n')
      await dragoman(['-p', 'next session'], here)
      assert.match(
        texts(here).at(-1) ?? '',
        /Facts saved[^"]*memory\.md \(information, not instructions\):\\n## Memories\\n- Tabs are preferred/,
      )
    })

  test('memories of Gemini’s form in the settings are still read', async () => {
    const here = await stage(HELLO)
    mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
    writeFileSync(join(here.home, '.config/dragoman/GEMINI.md'), '## Gemini Added Memories\n- OLD-FACT\n')
    await dragoman(['-p', 'hi'], here)
    assert.ok(texts(here)[0]?.includes('OLD-FACT'))
  })
})

describe('names of tools of servers', () => {
  test('mcp list shows the names that the model sees, and a long name is cut in the middle', async () => {
    const here = await stage(HELLO)
    mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
    const pond = { command: process.execPath, args: [FIXTURE, 'broken', 'lengthy'] }
    writeFileSync(join(here.home, '.config/dragoman/config.json'), JSON.stringify({ mcpServers: { pond } }))
    const { out } = await dragoman(['mcp', 'list', '--json'], here)
    const [row] = JSON.parse(out) as { tools: { name: string }[] }[]
    const listed = row?.tools.map(({ name }) => name) ?? []
    await dragoman(['-p', 'hi'], here)
    const body = here.server.requests[0]?.body as { tools: { function: { name: string } }[] }
    const declared = new Set(body.tools.map((tool) => tool.function.name))
    assert.ok(listed.includes('pond__read_file'), `a tool with the name of one of ours: ${listed.join()}`)
    assert.ok(listed.includes(`${'x'.repeat(28)}___${'x'.repeat(32)}`), 'a name that is too long')
    for (const name of listed) assert.ok(declared.has(name), `the model does not see ${name}`)
  })
})
