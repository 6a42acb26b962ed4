/** Completion scripts for shells, from the tree of commands. They are complete in themselves: a Tab starts no program. */
import type { Command, Option } from 'commander';

export interface Candidate {
  word: string;
  description: string;
}

interface Node {
  /** The words that lead here: `tidegate runs list`. */
  route: string;
  /** Each subcommand's words, including aliases, and its route. */
  children: [word: string, route: string][];
  commands: Candidate[];
  options: Candidate[];
  /** Values of options that have choices. */
  choices: [option: string, values: readonly string[]][];
}

/** The command and all below it. */
function nodesOf(command: Command, globals: readonly Option[], route = command.name()): Node[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help');
  const options = [...new Set([...command.options, ...globals])].filter(({ hidden }) => !hidden);
  const names = (option: Option) => [option.short, option.long].filter((name) => name !== undefined && name !== null);
  const node: Node = {
    route,
    children: visible.flatMap((child) =>
      [child.name(), ...child.aliases()].map((word): [string, string] => [word, `${route} ${child.name()}`]),
    ),
    commands: visible.map((child) => ({ word: child.name(), description: child.summary() || child.description() })),
    options: options.map((option) => ({ word: option.long ?? option.short ?? '', description: option.description })),
    choices: options.flatMap((option) =>
      names(option).flatMap((name) => (option.argChoices ? [[name, option.argChoices] as [string, string[]]] : [])),
    ),
  };
  return [node, ...visible.flatMap((child) => nodesOf(child, globals, `${route} ${child.name()}`))];
}

const SHELLS = { bash, zsh, fish };
export type Shell = keyof typeof SHELLS;
export const SHELL_NAMES = Object.keys(SHELLS) as Shell[];

export function completionScript(program: Command, shell: Shell): string {
  return SHELLS[shell](nodesOf(program, program.options));
}

const words = ({ commands, options }: Node) => [...commands, ...options].map(({ word }) => word).join(' ');
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The lines of a `case` that follows the words of the command line: `route` becomes where they lead. */
function steps(nodes: readonly Node[]): string[] {
  return nodes.flatMap(({ route, children }) =>
    children.map(([word, to]) => `      ${quoted(`${route} ${word}`)}) route=${quoted(to)} ;;`),
  );
}

function bash(nodes: readonly Node[]): string {
  const reply = (list: string) => `COMPREPLY=($(compgen -W ${quoted(list)} -- "$current"))`;
  return `# Completion of tidegate for bash. Add to ~/.bashrc: source <(tidegate completion bash)
_tidegate() {
  local route='tidegate' current="\${COMP_WORDS[COMP_CWORD]}" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$route $word" in
${steps(nodes).join('\n')}
    esac
  done
  case "$route \${COMP_WORDS[COMP_CWORD-1]}" in
${choices(nodes, (values) => `${reply(values)}; return`).join('\n')}
  esac
  case "$route" in
${nodes.map((node) => `    ${quoted(node.route)}) ${reply(words(node))} ;;`).join('\n')}
  esac
}
complete -o default -F _tidegate tidegate
`;
}

function zsh(nodes: readonly Node[]): string {
  return `#compdef tidegate
# Completion of tidegate for zsh. Add to ~/.zshrc, after compinit: source <(tidegate completion zsh)
_tidegate() {
  local route='tidegate' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$route $word" in
${steps(nodes).join('\n')}
    esac
  done
  case "$route \${words[CURRENT-1]}" in
${choices(nodes, (values) => `compadd -- ${values}; return`).join('\n')}
  esac
  case "$route" in
${nodes.map((node) => `    ${quoted(node.route)}) compadd -- ${words(node)} ;;`).join('\n')}
  esac
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
compdef _tidegate tidegate
`;
}

function fish(nodes: readonly Node[]): string {
  const cases = nodes.flatMap(({ route, children }) =>
    children.map(([word, to]) => `      case ${fishQuoted(`${route} ${word}`)}\n        set route ${fishQuoted(to)}`),
  );
  const lines = nodes.flatMap(({ route, commands, options, choices: all }) => {
    const here = `complete -c tidegate -n ${fishQuoted(`test (__tidegate_route) = "${route}"`)}`;
    const values = new Map(all);
    return [
      ...commands.map(({ word, description }) => `${here} -f -a ${word} -d ${fishQuoted(description)}`),
      ...options.map(({ word, description }) => {
        const takes = values.has(word) ? ` -x -a ${fishQuoted((values.get(word) ?? []).join(' '))}` : '';
        return `${here} -l ${word.replace(/^--/, '')}${takes} -d ${fishQuoted(description)}`;
      }),
    ];
  });
  return `# Completion of tidegate for fish. Add to ~/.config/fish/config.fish: tidegate completion fish | source
function __tidegate_route
  set -l route tidegate
  for word in (commandline -opc)[2..-1]
    switch "$route $word"
${cases.join('\n')}
    end
  end
  echo $route
end
${lines.join('\n')}
`;
}

function choices(nodes: readonly Node[], line: (values: string) => string): string[] {
  return nodes.flatMap(({ route, choices: all }) =>
    all.map(([option, values]) => `    ${quoted(`${route} ${option}`)}) ${line(values.join(' '))} ;;`),
  );
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
