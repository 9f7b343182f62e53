'use strict';
(async () => {
  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    Object.assign(made, attributes);
    made.append(...children);
    return made;
  };
  const main = document.getElementById('operations');
  let api;
  try {
    const answer = await fetch('openapi.json');
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    api = await answer.json();
  } catch (error) {
    main.textContent = `The description cannot be loaded: ${error.message}.`;
    return;
  }
  const resolve = (schema) =>
    schema?.$ref ? api.components.schemas[schema.$ref.split('/').pop()] : schema;
  const body = (title, content) => {
    const [type, { schema }] = Object.entries(content)[0];
    const shape = type === 'application/json' ? JSON.stringify(resolve(schema), null, 2) : type;
    return [element('p', { className: 'quiet', textContent: title }), element('pre', { textContent: shape })];
  };
  const operation = (method, path, what) => {
    const rows = (what.parameters ?? []).map((one) =>
      element('tr', {},
        element('td', {}, element('code', { textContent: one.name })),
        element('td', { textContent: one.in }),
        element('td', { textContent: one.schema.type ?? '' }),
        element('td', { textContent: one.description ?? '' })));
    const answers = Object.entries(what.responses).flatMap(([status, answer]) =>
      answer.content && status < 300
        ? body(`${status} ${answer.description}`, answer.content)
        : [element('p', { className: 'quiet', textContent: `${status} ${answer.description}` })]);
    return element('details', {},
      element('summary', {},
        element('code', { className: 'method', textContent: method.toUpperCase() }),
        element('code', { textContent: path }),
        element('span', { className: 'quiet', textContent: what.summary })),
      ...(rows.length ? [element('table', {}, ...rows)] : []),
      ...(what.requestBody ? body('Body', what.requestBody.content) : []),
      ...answers);
  };
  const groups = api.tags.map(({ name }) => {
    const section = element('section', {}, element('h2', { textContent: name }));
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const [method, what] of Object.entries(methods)) {
        if (what.tags.includes(name)) section.append(operation(method, path, what));
      }
    }
    return section;
  });
  main.replaceChildren(...groups);
})();
