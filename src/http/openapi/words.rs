//! The words in which routes are described. Constants only.

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Text,
    Truth,
    /// An integer from the first to the second.
    Whole(u64, u64),
    Number,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// What it is, or `null`.
    OrNull(&'static Kind),
    /// Any JSON.
    Any,
    List(&'static Kind),
    /// An object with any members, of this kind each.
    MapOf(&'static Kind),
    /// An object with these members, and perhaps others.
    Object(&'static [Field]),
    /// One of the shapes, by its name.
    Shape(&'static str),
    /// All members of these shapes.
    AllOf(&'static [Kind]),
    /// Any of these.
    AnyOf(&'static [Kind]),
}

/// A member of a body or an answer, or a parameter of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) about: &'static str,
}

/// One that may be absent.
pub(super) const fn may(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, required: false, about }
}

/// One that is always there.
pub(super) const fn must(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { name, kind, required: true, about }
}

/// Any integer from 0 on.
pub(super) const COUNT: Kind = Kind::Whole(0, MOST);
/// The largest integer that every client can write.
pub(super) const MOST: u64 = 9_007_199_254_740_991;
pub(super) const TEXTS: Kind = Kind::List(&Kind::Text);

/// Which method an operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Delete,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// What a request can say besides its own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Nothing.
    Service,
    /// `profile`.
    Profile,
    /// That, and `timeoutMs`.
    Timed,
    /// That, and `targetId`.
    Tab,
}

/// What an operation answers when it went well.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gives {
    Json(Kind),
    /// Something else, of this content type.
    Other(&'static str),
}

/// A route with a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) group: &'static str,
    pub(super) about: &'static str,
    pub(super) more: &'static str,
    pub(super) scope: Scope,
    pub(super) query: &'static [Field],
    pub(super) body: Option<Kind>,
    pub(super) gives: Gives,
    /// Statuses beside those of its kind of operation.
    pub(super) also: &'static [u16],
    /// It is answered from what is known, also while the service stops.
    pub(super) is_look: bool,
    /// It needs no token.
    pub(super) is_open: bool,
}

impl Operation {
    const fn new(method: Method, path: &'static str, group: &'static str, about: &'static str) -> Self {
        let gives = Gives::Json(Kind::Shape("Done"));
        Self {
            method,
            path,
            group,
            about,
            more: "",
            scope: Scope::Tab,
            query: &[],
            body: None,
            gives,
            also: &[],
            is_look: false,
            is_open: false,
        }
    }

    pub(super) const fn get(path: &'static str, group: &'static str, about: &'static str) -> Self {
        Self::new(Method::Get, path, group, about)
    }

    pub(super) const fn post(path: &'static str, group: &'static str, about: &'static str) -> Self {
        let body = Some(Kind::Object(&[]));
        Self { body, ..Self::new(Method::Post, path, group, about) }
    }

    pub(super) const fn delete(path: &'static str, group: &'static str, about: &'static str) -> Self {
        Self { scope: Scope::Timed, ..Self::new(Method::Delete, path, group, about) }
    }

    /// In further sentences.
    pub(super) const fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    pub(super) const fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    pub(super) const fn query(self, query: &'static [Field]) -> Self {
        Self { query, ..self }
    }

    pub(super) const fn body(self, fields: &'static [Field]) -> Self {
        Self { body: Some(Kind::Object(fields)), ..self }
    }

    /// A body that is one of several things.
    pub(super) const fn body_of(self, kind: Kind) -> Self {
        Self { body: Some(kind), ..self }
    }

    pub(super) const fn gives(self, kind: Kind) -> Self {
        Self { gives: Gives::Json(kind), ..self }
    }

    pub(super) const fn gives_other(self, content_type: &'static str) -> Self {
        Self { gives: Gives::Other(content_type), ..self }
    }

    pub(super) const fn also(self, also: &'static [u16]) -> Self {
        Self { also, ..self }
    }

    pub(super) const fn look(self) -> Self {
        Self { is_look: true, ..self }
    }

    pub(super) const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }
}
