import type { Script, Step } from '../script.ts'

/** Answers each question of `dragoman doctor` as a healthy model would; it answers by what is asked, not by its place. */
export const patient: Script = {
  about: 'A healthy model, to be examined: dragoman doctor rehearsal/patient.',
  steps: [
    asked('single word: ready', { say: 'ready' }),
    asked('weather in Oslo? Use the tool', {
      turns: 0,
      call: [{ name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } }],
    }),
    asked('weather in Oslo? Use the tool', { results: '7 degrees', say: 'It rains in Oslo, at 7 degrees.' }),
    asked('weather in Oslo? Use the tool', { results: 'is down', say: 'The weather is not known.' }),
    asked('weather in Oslo? Use the tool', { results: 'the picture', say: 'The picture is red.' }),
    asked('Oslo and in Lima', {
      call: [
        { name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } },
        { name: 'get_weather', args: { city: 'Lima, the capital of Peru' } },
      ],
    }),
    asked('List my notes', { call: [{ name: 'list_notes', args: {} }] }),
    ...[1, 2, 3, 4, 5].map((n) =>
      asked('Call take_step', { turns: n - 1, call: [{ name: 'take_step', args: { n } }] }),
    ),
    asked('Call take_step', { turns: 5, say: 'done' }),
    asked('six weeks and three days', { think: 'Six times seven and three.', say: '45' }),
    asked('capital of Norway? Think', {
      turns: 0,
      think: 'The capital of Norway is Oslo.',
      call: [{ name: 'get_weather', args: { city: 'Oslo, the capital of Norway' } }],
    }),
    asked('capital of Norway? Think', { results: '7 degrees', say: 'It rains in Oslo, at 7 degrees.' }),
    asked('And of Peru', { say: 'Lima' }),
    asked('single word: fine', { say: 'fine' }),
    asked('with the tool that you must use', { call: [{ name: 'list_notes', args: {} }] }),
    asked('without any tool', { say: 'Hello.' }),
    asked('with any tool', { call: [{ name: 'list_notes', args: {} }] }),
    asked('Plant a tree', {
      call: [{ name: 'plant_tree', args: { root: { name: 'oak', children: [{ name: 'acorn' }] } } }],
    }),
    asked('Set the key alpha', {
      call: [{ name: 'set_value', args: { key: 'alpha', value: 5, note: 'if a < b && c > d' } }],
    }),
    asked('the only tool', { call: [{ name: '{tool}', args: {} }] }),
    asked('about the sea', {
      call: [{ name: 'write_note', args: { text: 'The sea is wide and deep, and so on.' } }],
      misbehave: [{ kind: 'length' }],
    }),
    asked('about the moon', {
      call: [{ name: 'write_note', args: { text: 'The moon is round and far, and so on.' } }],
    }),
    asked('Reply with exactly this line', { say: 'Grüße, 你好, 🙂' }),
    asked('How many rules', { say: '120', usage: { input: 40, cacheRead: 2000 } }),
    asked('What is the word', { say: 'heron' }),
  ],
  end: { say: 'ready' },
}

type Answered = Omit<Step, 'when'> & { readonly turns?: number; readonly results?: string }

function asked(user: string, { turns, results, ...step }: Answered): Step {
  return { ...step, when: { user, ...(turns !== undefined && { turns }), ...(results !== undefined && { results }) } }
}
