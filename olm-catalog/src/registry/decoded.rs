//! What messages take in memory once they are decoded, known from their bytes before that.
//!
//! An element of a repeated field is two bytes on the wire when it is empty, and a struct of a
//! hundred in memory: four MiB of empty `providedApis` are two million of them. So elements are
//! counted on the wire. No message that is decoded here has a repeated field inside a repeated one.

use prost::Message;
use prost::encoding::{DecodeContext, decode_key, skip_field};

use super::proto::{Bundle, Channel, Dependency, GroupVersionKind, Package, Property};

/// A list may have capacity for twice its elements while it grows.
const GROWTH: usize = 2;

/// What the texts of an element take at least beside their bytes.
const TEXTS: usize = 64;

/// A message whose repeated fields are known.
pub(crate) trait Decoded: Message + Default + 'static {
    /// Name of the message for people.
    const NAME: &'static str;

    /// Its repeated fields.
    const FIELDS: &'static [Field];
}

/// A repeated field.
#[derive(Debug)]
pub(crate) struct Field {
    tag: u32,
    name: &'static str,
    /// Bytes that one element takes in memory beside its texts.
    element: usize,
}

impl Field {
    const fn of<T>(tag: u32, name: &'static str) -> Self {
        Self { tag, name, element: GROWTH * size_of::<T>() + TEXTS }
    }
}

impl Decoded for Bundle {
    const NAME: &'static str = "bundle";
    const FIELDS: &'static [Field] = &[
        Field::of::<String>(5, "object"),
        Field::of::<GroupVersionKind>(7, "providedApis"),
        Field::of::<GroupVersionKind>(8, "requiredApis"),
        Field::of::<Dependency>(11, "dependencies"),
        Field::of::<Property>(12, "properties"),
        Field::of::<String>(14, "skips"),
    ];
}

impl Decoded for Package {
    const NAME: &'static str = "package";
    const FIELDS: &'static [Field] = &[Field::of::<Channel>(2, "channels")];
}

/// Size of a message in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    /// All of it, in bytes.
    pub(crate) bytes: usize,
    /// The repeated field that takes most, with the number of its elements.
    pub(crate) most: Option<(&'static str, usize)>,
}

/// The size of a message, from its bytes on the wire.
///
/// # Errors
/// The bytes are no message.
pub(crate) fn on_the_wire<M: Decoded>(mut bytes: &[u8]) -> Result<Weight, prost::DecodeError> {
    let length = bytes.len();
    let mut counts = vec![0_usize; M::FIELDS.len()];
    while !bytes.is_empty() {
        let (tag, wire_type) = decode_key(&mut bytes)?;
        skip_field(wire_type, tag, &mut bytes, DecodeContext::default())?;
        let known = M::FIELDS.iter().position(|field| field.tag == tag);
        if let Some(count) = known.and_then(|field| counts.get_mut(field)) {
            *count += 1;
        }
    }
    Ok(weigh::<M>(length, counts))
}

/// What a bundle takes in memory, in bytes.
pub(crate) fn bundle_bytes(bundle: &Bundle) -> usize {
    let counts = vec![
        bundle.object.len(),
        bundle.provided_apis.len(),
        bundle.required_apis.len(),
        bundle.dependencies.len(),
        bundle.properties.len(),
        bundle.skips.len(),
    ];
    weigh::<Bundle>(bundle.encoded_len(), counts).bytes
}

/// What a package takes in memory, in bytes.
pub(crate) fn package_bytes(package: &Package) -> usize {
    weigh::<Package>(package.encoded_len(), vec![package.channels.len()]).bytes
}

fn weigh<M: Decoded>(length: usize, counts: Vec<usize>) -> Weight {
    let fields = || M::FIELDS.iter().zip(&counts).filter(|(_, count)| **count > 0);
    let take = |(field, count): (&Field, &usize)| count.saturating_mul(field.element);
    let most = fields().max_by_key(|field| take(*field));
    Weight {
        bytes: fields().map(take).fold(length, usize::saturating_add),
        most: most.map(|(field, count)| (field.name, *count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle() -> Bundle {
        Bundle {
            csv_name: "a.v1".to_owned(),
            csv_json: "{}".to_owned(),
            object: vec!["{}".to_owned(); 2],
            provided_apis: vec![GroupVersionKind::default(); 3],
            required_apis: vec![GroupVersionKind { kind: "A".into(), ..Default::default() }; 5],
            dependencies: vec![Dependency::default(); 7],
            properties: vec![Property { r#type: "a".into(), value: "b".into() }; 11],
            skips: vec![String::new(); 13],
            ..Bundle::default()
        }
    }

    #[test]
    fn the_wire_says_what_a_message_will_take() {
        let weight = on_the_wire::<Bundle>(&bundle().encode_to_vec()).unwrap();
        assert_eq!(weight.bytes, bundle_bytes(&bundle()));
        assert_eq!(weight.most, Some(("properties", 11)));
        let package = Package { channels: vec![Channel::default(); 4], ..Package::default() };
        let weight = on_the_wire::<Package>(&package.encode_to_vec()).unwrap();
        assert_eq!((weight.bytes, weight.most), (package_bytes(&package), Some(("channels", 4))));
        assert_eq!(on_the_wire::<Package>(&[]).unwrap(), Weight::default());
    }

    /// A field that a message has, and that this table forgets, would not be counted.
    #[test]
    fn every_repeated_field_is_counted() {
        let one = |bundle: Bundle| on_the_wire::<Bundle>(&bundle.encode_to_vec()).unwrap().most;
        let empty = Bundle::default;
        let lists = [
            Bundle { object: vec![String::new()], ..empty() },
            Bundle { provided_apis: vec![GroupVersionKind::default()], ..empty() },
            Bundle { required_apis: vec![GroupVersionKind::default()], ..empty() },
            Bundle { dependencies: vec![Dependency::default()], ..empty() },
            Bundle { properties: vec![Property::default()], ..empty() },
            Bundle { skips: vec![String::new()], ..empty() },
        ];
        let names: Vec<_> = lists.into_iter().map(|list| one(list).unwrap().0).collect();
        let expected =
            ["object", "providedApis", "requiredApis", "dependencies", "properties", "skips"];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for noise in [&[0xff_u8; 20][..], &[0x3a, 5, 0], &[0x0b]] {
            assert!(on_the_wire::<Bundle>(noise).is_err(), "{noise:?}");
        }
    }
}
