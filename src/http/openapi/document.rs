//! The document, made of the tables.

use serde_json::Value;
use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, ParameterBuilder, ParameterIn, PathItem, PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{
    AdditionalProperties, AllOfBuilder, AnyOfBuilder, ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ComponentsBuilder, ContentBuilder, HeaderBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    Required, Response, ResponseBuilder,
};

use super::browsers::{self, READY};
use super::pages;
use super::shapes::SHAPES;
use super::words::{Field, Gives, Kind, Method, Operation, Scope, may};

const ABOUT: &str = "Browser tabs under supervision. Every call gets one answer inside its budget (timeoutMs), and no \
    tab pays for another. Texts may be written as numbers and booleans, numbers and booleans as texts; unknown \
    fields are ignored, wrong ones are refused by name. The query wins over the body.";

const PROFILE: Field = may("profile", Kind::Text, "Which browser; the default one without it");
const TIMEOUT: Field =
    may("timeoutMs", Kind::Whole(1, 120_000), "Milliseconds until the answer, whatever the page does");
const TARGET: Field =
    may("targetId", Kind::Text, "The tab: its id (t1), label or target id; else the last used one");

/// What a failure of this status means.
const FAILURES: &[(u16, &str)] = &[
    (400, "The request is wrong, and nothing was sent"),
    (401, "The token is missing or wrong"),
    (
        403,
        "It is not allowed: another site asks, the Host is none of the service's, or the configuration says no",
    ),
    (404, "There is no such profile, tab or route"),
    (408, "The body did not arrive in time"),
    (409, "Not now: the browser does not run, the tab is stuck or being brought back, the name is ambiguous"),
    (413, "The body is too large"),
    (415, "The body is no JSON"),
    (429, "Over a limit; try again after Retry-After"),
    (499, "The call was cancelled"),
    (500, "It did not work; reason says why, and timeout that the budget ended"),
    (501, "It is not supported"),
    (502, "The link to the browser failed"),
    (503, "There is no browser, or the service stops"),
    (507, "There are too many profiles"),
];
const EVERY: &[u16] = &[401, 403];
const LOOK: &[u16] = &[400, 404];
const CALL: &[u16] = &[400, 404, 409, 429, 499, 500, 501, 502, 503];
const WITH_BODY: &[u16] = &[408, 413, 415];

/// All operations, in the order in which they are told.
pub(super) fn operations() -> impl Iterator<Item = &'static Operation> {
    pages::OPERATIONS.iter().chain(browsers::OPERATIONS)
}

pub(super) fn document() -> OpenApi {
    let mut paths = PathsBuilder::new();
    for it in operations() {
        let method = match it.method {
            Method::Get => HttpMethod::Get,
            Method::Post => HttpMethod::Post,
            Method::Delete => HttpMethod::Delete,
        };
        paths = paths.path(it.path, PathItem::new(method, operation(it)));
    }
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("The service's token"));
    let mut components =
        ComponentsBuilder::new().security_scheme("token", SecurityScheme::Http(bearer.build()));
    for (name, about, kind) in SHAPES {
        components = components.schema(*name, described(schema(kind), about));
    }
    let info =
        InfoBuilder::new().title("tabvisor").version(env!("CARGO_PKG_VERSION")).description(Some(ABOUT));
    OpenApiBuilder::new()
        .info(info)
        .paths(paths)
        .components(Some(components.build()))
        .security(Some([SecurityRequirement::new("token", Vec::<String>::new())]))
        .build()
}

fn operation(it: &Operation) -> OperationBuilder {
    let mut made = OperationBuilder::new()
        .tag(it.group)
        .operation_id(Some(name(it)))
        .summary(Some(it.about))
        .description((!it.more.is_empty()).then_some(it.more));
    if it.is_open {
        made = made.securities(Some([]));
    }
    for part in it.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
        let about = if part == "target" { TARGET.about } else { "" };
        made = made.parameter(parameter(&super::words::must(part, Kind::Text, about), ParameterIn::Path));
    }
    let scope: &[Field] = match it.scope {
        Scope::Service => &[],
        Scope::Profile => &[PROFILE],
        Scope::Timed => &[PROFILE, TIMEOUT],
        Scope::Tab => &[PROFILE, TIMEOUT, TARGET],
    };
    for field in it.query.iter().chain(if it.body.is_none() { scope } else { &[] }) {
        made = made.parameter(parameter(field, ParameterIn::Query));
    }
    if let Some(body) = &it.body {
        let schema = with(body, scope);
        let required = if matches!(body, Kind::Object(fields) if fields.iter().all(|field| !field.required)) {
            Required::False
        } else {
            Required::True
        };
        let content = ContentBuilder::new().schema(Some(schema));
        let body =
            RequestBodyBuilder::new().content("application/json", content.build()).required(Some(required));
        made = made.request_body(Some(body.build()));
    }
    let statuses = [
        EVERY,
        if it.is_look { LOOK } else { CALL },
        if it.body.is_some() || it.method == Method::Delete { WITH_BODY } else { &[] },
        it.also,
    ]
    .concat();
    made = made.response("200", answer(it));
    for (status, about) in FAILURES.iter().filter(|(status, _)| statuses.contains(status)) {
        made = made.response(status.to_string(), failure(it, *status, about));
    }
    made
}

/// Unique: the method and the path in words.
fn name(it: &Operation) -> String {
    let words =
        it.path.split(['/', '-', '.']).map(|part| part.trim_matches(['{', '}'])).filter(|it| !it.is_empty());
    let parts: Vec<_> =
        std::iter::once(it.method.name().to_ascii_lowercase()).chain(words.map(str::to_owned)).collect();
    parts.join("_")
}

fn parameter(field: &Field, place: ParameterIn) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(field.name)
        .parameter_in(place)
        .required(if field.required { Required::True } else { Required::False })
        .description((!field.about.is_empty()).then_some(field.about))
        .schema(Some(schema(&field.kind)))
}

fn answer(it: &Operation) -> Response {
    let response = ResponseBuilder::new().description("It was done");
    match &it.gives {
        Gives::Json(kind) => json(response, schema(kind)),
        Gives::Other(content_type) => {
            let text = ObjectBuilder::new().schema_type(Type::String);
            response.content(*content_type, ContentBuilder::new().schema(Some(text)).build())
        }
    }
    .build()
}

fn failure(it: &Operation, status: u16, about: &str) -> Response {
    let mut response = ResponseBuilder::new().description(about);
    if status == 429 {
        let seconds = HeaderBuilder::new().schema(Some(schema(&Kind::Whole(1, 3600))));
        response = response.header("retry-after", seconds.build());
    }
    let error = schema(&Kind::Shape("Error"));
    let body = if it.path == "/readyz" && status == 503 { schema(&Kind::Object(READY)) } else { error };
    json(response, body).build()
}

fn json(response: ResponseBuilder, schema: RefOr<Schema>) -> ResponseBuilder {
    response.content("application/json", ContentBuilder::new().schema(Some(schema)).build())
}

/// A body with further fields, in each of its forms.
fn with(kind: &Kind, more: &[Field]) -> RefOr<Schema> {
    match kind {
        Kind::Object(fields) => object(fields.iter().chain(more)),
        Kind::AnyOf(kinds) => {
            let any = kinds.iter().fold(AnyOfBuilder::new(), |any, kind| any.item(with(kind, more)));
            Schema::AnyOf(any.build()).into()
        }
        other => schema(other),
    }
}

fn object<'a>(fields: impl Iterator<Item = &'a Field>) -> RefOr<Schema> {
    let mut made = ObjectBuilder::new();
    for field in fields {
        made = made.property(field.name, described(schema(&field.kind), field.about));
        if field.required {
            made = made.required(field.name);
        }
    }
    Schema::Object(made.build()).into()
}

fn schema(kind: &Kind) -> RefOr<Schema> {
    let typed = |kind: Type| ObjectBuilder::new().schema_type(kind);
    match kind {
        Kind::Text => Schema::Object(typed(Type::String).build()).into(),
        Kind::Truth => Schema::Object(typed(Type::Boolean).build()).into(),
        Kind::Number => Schema::Object(typed(Type::Number).build()).into(),
        Kind::Whole(from, to) => {
            let whole = typed(Type::Integer).minimum(Some(number(*from))).maximum(Some(number(*to)));
            Schema::Object(whole.build()).into()
        }
        Kind::OneOf(words) => {
            Schema::Object(typed(Type::String).enum_values(Some(words.iter().copied())).build()).into()
        }
        Kind::Any => Schema::Object(ObjectBuilder::new().schema_type(SchemaType::AnyValue).build()).into(),
        Kind::OrNull(kind) => {
            let null = Schema::Object(typed(Type::Null).build());
            Schema::AnyOf(AnyOfBuilder::new().item(schema(kind)).item(null).build()).into()
        }
        Kind::List(kind) => Schema::Array(ArrayBuilder::new().items(schema(kind)).build()).into(),
        Kind::MapOf(kind) => {
            let values = AdditionalProperties::RefOr(schema(kind));
            Schema::Object(ObjectBuilder::new().additional_properties(Some(values)).build()).into()
        }
        Kind::Object(fields) => object(fields.iter()),
        Kind::Shape(name) => RefOr::Ref(Ref::from_schema_name(*name)),
        Kind::AllOf(kinds) => {
            let all = kinds.iter().fold(AllOfBuilder::new(), |all, kind| all.item(schema(kind)));
            Schema::AllOf(all.build()).into()
        }
        Kind::AnyOf(kinds) => {
            let any = kinds.iter().fold(AnyOfBuilder::new(), |any, kind| any.item(schema(kind)));
            Schema::AnyOf(any.build()).into()
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most the largest integer that is exact")]
fn number(whole: u64) -> f64 {
    whole as f64
}

fn described(mut schema: RefOr<Schema>, about: &str) -> RefOr<Schema> {
    let text = (!about.is_empty()).then(|| about.to_owned());
    match &mut schema {
        RefOr::T(Schema::Object(it)) => it.description = text,
        RefOr::T(Schema::Array(it)) => it.description = text,
        RefOr::T(Schema::AnyOf(it)) => it.description = text,
        RefOr::T(Schema::AllOf(it)) => it.description = text,
        _ => {}
    }
    schema
}

/// The document as JSON.
pub(super) fn rendered() -> Value {
    serde_json::to_value(document()).unwrap_or_default()
}
