//! Where an IP address lies: in public, or in a private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AddressRange {
    /// It is reachable from the internet.
    Public,
    /// A private network, for example that of Pods and Services.
    Private,
    /// This machine.
    Loopback,
    /// The neighbours of this machine; clouds give out credentials there.
    LinkLocal,
    /// No server has such an address: multicast, reserved, for documentation.
    Nowhere,
}

impl AddressRange {
    pub(super) const ALL: [Self; 5] =
        [Self::Public, Self::Private, Self::Loopback, Self::LinkLocal, Self::Nowhere];

    /// Where an address lies; one that stands for an IPv4 address lies where that does.
    pub(super) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => embedded(address).map_or_else(|| of_v6(address), of_v4),
        }
    }

    /// Where a server lies that is named by its address; none where it has a name. A number in another notation, such
    /// as `0x0a000007`, is an address to some of those who resolve names, so it leads nowhere.
    pub(super) fn of_text(host: &str) -> Option<Self> {
        let host = host.trim_end_matches('.');
        if let Ok(address) = host.parse() {
            return Some(Self::of(address));
        }
        let last = host.rsplit('.').next().unwrap_or_default();
        let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
        let is_hex = hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        (is_hex || is_number).then_some(Self::Nowhere)
    }

    /// Where a registry lies with all of these addresses: in public only if each of them does.
    pub(super) fn of_all(addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        let mut places = addresses.into_iter().map(Self::of);
        places.find(|place| *place != Self::Public).unwrap_or(Self::Public)
    }

    /// Whether a registry that lies here may refer to an address there.
    pub(super) fn may_refer_to(self, other: Self) -> bool {
        match other {
            Self::Public => true,
            Self::Private => self != Self::Public,
            other => self == other,
        }
    }
}

fn of_v4(address: Ipv4Addr) -> AddressRange {
    let [first, second, third, _] = address.octets();
    match (first, second, third) {
        (127, ..) => AddressRange::Loopback,
        (169, 254, _) => AddressRange::LinkLocal,
        // Whoever connects to it connects to this machine.
        (0, ..) if address.is_unspecified() => AddressRange::Loopback,
        (100, 64..=127, _) => AddressRange::Private,
        _ if address.is_private() => AddressRange::Private,
        (0, ..) | (192, 0, 0) | (198, 18..=19, _) | (224.., ..) => AddressRange::Nowhere,
        _ if address.is_documentation() => AddressRange::Nowhere,
        _ => AddressRange::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> AddressRange {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => AddressRange::Loopback,
        [0xfe80..=0xfebf, ..] => AddressRange::LinkLocal,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => AddressRange::Private,
        [0x2001, 0x0db8, ..] | [0x2001, 0..=0x01ff, ..] => AddressRange::Nowhere,
        [0x2000..=0x3fff, ..] => AddressRange::Public,
        _ => AddressRange::Nowhere,
    }
}

/// The IPv4 address that an address stands for: mapped, compatible, NAT64 (RFC 6052) or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(v4(high, low))
        }
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::AddressRange::{self, LinkLocal, Loopback, Nowhere, Private, Public};

    #[rstest]
    #[case("8.8.8.8", Public)]
    #[case("2a00:1450::1", Public)]
    #[case("10.96.0.1", Private)]
    #[case("172.31.0.1", Private)]
    #[case("192.168.1.1", Private)]
    #[case("100.64.0.1", Private)]
    #[case("fd00::1", Private)]
    #[case("127.0.0.53", Loopback)]
    #[case("0.0.0.0", Loopback)]
    #[case("::", Loopback)]
    #[case("::1", Loopback)]
    #[case("::ffff:127.0.0.1", Loopback)]
    #[case("169.254.169.254", LinkLocal)]
    #[case("fe80::1", LinkLocal)]
    #[case("::ffff:169.254.169.254", LinkLocal)]
    #[case("64:ff9b::a9fe:a9fe", LinkLocal)]
    #[case("2002:0a00:0001::1", Private)]
    #[case("64:ff9b::808:808", Public)]
    #[case("0.1.2.3", Nowhere)]
    #[case("192.0.0.8", Nowhere)]
    #[case("198.18.0.1", Nowhere)]
    #[case("203.0.113.9", Nowhere)]
    #[case("224.0.0.1", Nowhere)]
    #[case("255.255.255.255", Nowhere)]
    #[case("ff02::1", Nowhere)]
    #[case("2001:db8::1", Nowhere)]
    fn places(#[case] address: &str, #[case] expected: AddressRange) {
        assert_eq!(AddressRange::of(address.parse().unwrap()), expected);
    }

    #[rstest]
    #[case("quay.io", None)]
    #[case("registry1", None)]
    #[case("10.0.0.7", Some(Private))]
    #[case("10.0.0.7.", Some(Private))]
    #[case("::ffff:10.0.0.7", Some(Private))]
    #[case("8.8.8.8", Some(Public))]
    #[case("10.7", Some(Nowhere))]
    #[case("167772167", Some(Nowhere))]
    #[case("0x0a000007", Some(Nowhere))]
    #[case("012.0.0.07", Some(Nowhere))]
    fn texts(#[case] host: &str, #[case] expected: Option<AddressRange>) {
        assert_eq!(AddressRange::of_text(host), expected);
    }

    #[rstest]
    #[case(Public, &[Public])]
    #[case(Private, &[Public, Private])]
    #[case(Loopback, &[Public, Private, Loopback])]
    #[case(LinkLocal, &[Public, Private, LinkLocal])]
    fn references(#[case] home: AddressRange, #[case] expected: &[AddressRange]) {
        let may = AddressRange::ALL.into_iter().filter(|place| home.may_refer_to(*place));
        assert_eq!(may.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_address_inside_is_enough() {
        let addresses = ["8.8.8.8", "10.0.0.1"].map(|text| text.parse().unwrap());
        assert_eq!(AddressRange::of_all(addresses), Private);
    }
}
