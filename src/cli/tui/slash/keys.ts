type KeyRow = readonly [keys: string, about: string]

type KeyGroup = Readonly<{ title: string; keys: readonly KeyRow[] }>

/** The keys that /help lists. */
export const BASIC_KEY_DESCRIPTIONS: readonly KeyRow[] = [
  ['Enter', 'send; Alt-Enter, Shift-Enter, Ctrl-J or \\ Enter: a new line'],
  ['Esc, Ctrl-C', 'stop the model; queued messages return to the input'],
  ['Esc Esc', 'go back to an earlier message; with text in the input: clear it'],
  ['Up, Down', 'queued messages, to edit them; earlier messages; Ctrl-R searches them'],
  ['@file', 'attach a file; Tab completes the name'],
  ['!command', 'run a command yourself; !!command gives it the terminal'],
  ['Ctrl-O', 'show the last tool call, or the subagents that work, in full'],
  ['Ctrl-G, Ctrl-X', 'write the message in your editor'],
  ['Ctrl-V', 'attach the image on the clipboard'],
  ['Shift-Tab', 'switch to the next approval mode'],
  ['Ctrl-L, Ctrl-Z', 'redraw the screen; suspend (fg brings it back)'],
  ['Ctrl-C twice, Ctrl-D', 'leave; the session is saved'],
]

/** All keys. The reference page is made from this. */
export const KEY_GROUPS: readonly KeyGroup[] = [
  { title: 'Basics', keys: BASIC_KEY_DESCRIPTIONS },
  {
    title: 'Approval prompts',
    keys: [
      ['y', 'yes, once'],
      [
        'a',
        'always: choose with 1 to 9 what is allowed, and for how long; for a plan: yes, and allow edits without approval',
      ],
      ['n', 'no; you can write to the model why'],
      ['Esc', 'no'],
      ['e', 'open the proposed edit or plan in your editor, or fill in the form of an MCP server'],
      ['A', 'yes to all edits that wait, after each was shown in full'],
      ['v', 'show hidden secrets'],
      ['w', 'yes, once, with network access, for a command that would run in the sandbox without it'],
      ['o', 'yes, once, outside the sandbox, for a command that the sandbox blocked'],
      ['Left, Right, Tab', 'the previous or next prompt'],
      ['Up, Down, Page Up, Page Down, Home, End', 'scroll a long prompt; also Space, b, g and G'],
      ['other text', 'goes into the input; Esc returns to the prompt'],
    ],
  },
  {
    title: 'Completion list',
    keys: [
      ['Up, Down, Ctrl-P, Ctrl-N', 'choose'],
      ['Tab', 'insert the choice'],
      ['Enter', 'insert a file name; send a command'],
      ['Esc', 'close the list'],
    ],
  },
  {
    title: 'History search',
    keys: [
      ['Ctrl-R', 'start the search; again: the next older match'],
      ['Enter', 'send the match'],
      ['Tab, Esc', 'edit the match'],
      ['Ctrl-G, Ctrl-C', 'leave the search; what you were writing returns'],
    ],
  },
  {
    title: 'Editing',
    keys: [
      ['Left, Right, Ctrl-B, Ctrl-F', 'move by a character'],
      ['Ctrl-Left, Ctrl-Right, Alt-Left, Alt-Right, Alt-B, Alt-F', 'move by a word'],
      ['Home, End, Ctrl-A, Ctrl-E', 'start or end of the line'],
      ['Ctrl-Home, Ctrl-End', 'start or end of the text'],
      ['Backspace, Ctrl-H, Delete, Ctrl-D', 'delete a character to the left, or to the right'],
      ['Ctrl-W, Ctrl-Backspace, Alt-Backspace', 'cut the word to the left'],
      ['Alt-D, Ctrl-Delete', 'cut the word to the right'],
      ['Ctrl-U, Ctrl-K', 'cut to the start or the end of the line'],
      ['Ctrl-Y', 'paste what was cut'],
      ['Ctrl-T', 'swap two characters'],
      ['Ctrl-_, Alt-Z', 'undo, redo'],
    ],
  },
  {
    title: 'Vim mode',
    keys: [
      ['Esc', 'normal mode; Esc Esc in an empty input: go back to an earlier message'],
      ['h j k l, w b e W B E, 0 ^ $, gg G, f F t T and a character', 'move; a count before it repeats it, as in 3w'],
      ['i a I A o O', 'insert mode'],
      ['d c y and a motion, dd cc yy', 'delete, change, copy; with counts, as in 2dd or d3w'],
      ['iw aw, i" a", i( a( and other quotes and brackets', 'text objects after an operator or in visual mode'],
      ['x X s S D C Y J r ~', 'delete, replace, change, join, as in Vim'],
      ['p P', 'paste what was deleted or copied'],
      ['v V', 'visual mode, by characters or lines; then d c y ~, o goes to the other end'],
      ['.', 'repeat the last change'],
      ['u', 'undo'],
    ],
  },
]
