//! The words of a row: each says one thing of a form or of an operation, and changes nothing else.

use std::fmt::Debug;

use interface::{
    answer::Answer,
    limits::SMALL_BODY_MAX,
    operation::{
        Act, Form, Guard, Method, Operation, Param, Service, Takes, asks, delete, get, old, patch,
        post, serves, tells, watch,
    },
    shape::Shape,
};

/// A POST without more words.
const PLAIN_FORM: Form = Form {
    method: Method::Post,
    path: "/path",
    open: Shape::Text,
    unsaid: None,
    query: &[],
    changes: true,
    old: false,
    answers: None,
};

/// An operation of the program without more words.
const PLAIN: Operation = Operation {
    summary: "Does it.",
    forms: &[PLAIN_FORM],
    words: None,
    guard: Guard::Control,
    always: false,
    may_fail: false,
    lasts: false,
    body: Takes::Nothing,
    body_max: SMALL_BODY_MAX,
    answers: &[(200, Shape::Empty)],
    act: Act::Serves(Service::Health),
};

const QUERY: &[Param] = &[Param {
    name: "scale",
    shape: Shape::Scale,
    doc: "How large.",
}];

const ANSWERS: &[(u16, Shape)] = &[(204, Shape::Empty), (404, Shape::Error)];

fn check<T: Debug>(rows: impl IntoIterator<Item = (T, T)>) {
    for (said, meant) in rows {
        assert_eq!(format!("{said:?}"), format!("{meant:?}"));
    }
}

#[test]
fn a_word_of_a_form_says_one_thing() {
    let path = "/path";
    let method = |method| Form {
        method,
        ..PLAIN_FORM
    };
    check([
        (post(path), PLAIN_FORM),
        (patch(path), method(Method::Patch)),
        (delete(path), method(Method::Delete)),
        (watch(path), method(Method::Get)),
        (
            get(path),
            Form {
                changes: false,
                ..method(Method::Get)
            },
        ),
        (
            old(path),
            Form {
                old: true,
                ..method(Method::Get)
            },
        ),
        (
            post(path).open(Shape::Scale),
            Form {
                open: Shape::Scale,
                ..PLAIN_FORM
            },
        ),
        (
            post(path).or("all"),
            Form {
                unsaid: Some("all"),
                ..PLAIN_FORM
            },
        ),
        (
            post(path).asks(QUERY),
            Form {
                query: QUERY,
                ..PLAIN_FORM
            },
        ),
        (
            post(path).answers(ANSWERS),
            Form {
                answers: Some(ANSWERS),
                ..PLAIN_FORM
            },
        ),
    ]);
}

#[test]
fn a_word_of_an_operation_says_one_thing() {
    let plain = || serves("Does it.", Service::Health, &[PLAIN_FORM]);
    check([
        (plain(), PLAIN),
        (
            plain().guarded(Guard::Open),
            Operation {
                guard: Guard::Open,
                ..PLAIN
            },
        ),
        (
            plain().called("do it"),
            Operation {
                words: Some("do it"),
                ..PLAIN
            },
        ),
        (
            plain().always(),
            Operation {
                always: true,
                ..PLAIN
            },
        ),
        (
            plain().may_fail(),
            Operation {
                may_fail: true,
                ..PLAIN
            },
        ),
        (
            plain().takes(Shape::Text),
            Operation {
                body: Takes::Always(Shape::Text),
                ..PLAIN
            },
        ),
        (
            plain().may_take(Shape::Text),
            Operation {
                body: Takes::Maybe(Shape::Text),
                ..PLAIN
            },
        ),
        (
            plain().up_to(7),
            Operation {
                body_max: 7,
                ..PLAIN
            },
        ),
        (
            plain().answers(ANSWERS),
            Operation {
                answers: ANSWERS,
                ..PLAIN
            },
        ),
    ]);
}

#[test]
fn a_row_says_who_does_it() {
    let asked = asks("", |_, _| Err(Answer::error(400, "asked")), &[]);
    let told = tells("", |_| Answer::error(400, "told"), &[]);
    let served = serves("", Service::Ready, &[]);
    assert!(matches!(asked.act, Act::Asks(_)));
    assert!(matches!(told.act, Act::Tells(_)));
    assert!(matches!(served.act, Act::Serves(Service::Ready)));
}

/// At doors without paths an operation has the name of the first form that is not for older clients alone.
#[test]
fn an_operation_is_named_by_its_best_form() {
    const ROWS: &[(&[Form], Option<&str>)] = &[
        (&[post("/api/a/b"), post("/api/c")], Some("a/b")),
        (&[old("/api/older"), post("/api/newer")], Some("newer")),
        (&[old("/api/older")], None),
        (&[post("/elsewhere")], None),
    ];
    for (forms, name) in ROWS {
        let operation = serves("", Service::Ready, forms);
        assert_eq!(operation.name(), *name, "{forms:?}");
    }
}

#[test]
fn methods_have_their_words() {
    let words = [Method::Get, Method::Post, Method::Patch, Method::Delete].map(Method::name);
    assert_eq!(words, ["GET", "POST", "PATCH", "DELETE"]);
}
