/// An address of the internet protocol, version 4 or 6.
enum InternetAddress: Equatable {
    case version4(UInt32)
    case version6(UInt128)

    private typealias Block4 = (start: UInt32, length: UInt32)
    private typealias Block6 = (start: UInt128, length: UInt128)

    /// The blocks that are not for the open internet. Source: IANA IPv4 Special-Purpose Address Registry (RFC 6890),
    /// multicast, and the one address outside of both at which a cloud answers its own machines (Azure; the others use
    /// blocks of the registries, such as 169.254.169.254, 100.100.100.200, 192.0.0.192 and fd00:ec2::254).
    private static let closed4: [Block4] = [
        (0x0000_0000, 8),  // this network
        (0x0A00_0000, 8),  // private
        (0x6440_0000, 10),  // shared by a carrier's customers
        (0x7F00_0000, 8),  // loopback
        (0xA83F_8110, 32),  // 168.63.129.16, the host of an Azure machine
        (0xA9FE_0000, 16),  // link-local
        (0xAC10_0000, 12),  // private
        (0xC000_0000, 24),  // protocol assignments
        (0xC000_0200, 24),  // documentation
        (0xC058_6300, 24),  // relays to version 6, given up
        (0xC0A8_0000, 16),  // private
        (0xC612_0000, 15),  // benchmarks
        (0xC633_6400, 24),  // documentation
        (0xCB00_7100, 24),  // documentation
        (0xE000_0000, 4),  // multicast
        (0xF000_0000, 4),  // reserved, broadcast
    ]

    /// The part of version 6 that is given to the open internet. Source: RFC 4291 section 2.4.
    private static let global: Block6 = (0x2000 << 112, 3)

    /// What in it is not for the open internet. Source: IANA IPv6 Special-Purpose Address Registry.
    private static let closed6: [Block6] = [
        (0x2001_0000 << 96, 23),  // protocol assignments, tunnels among them
        (0x2001_0DB8 << 96, 32),  // documentation
        (0x2002 << 112, 16),  // tunnels to any address of version 4
        (0x3FFF << 112, 20),  // documentation
    ]

    /// What leads to an address of version 4, in its last four bytes: mapped ones, and NAT64 (RFC 6052).
    private static let leading: [Block6] = [(0xFFFF << 32, 96), (0x0064_FF9B << 96, 96)]

    /// - Parameter bytes: In network order; nil when they are neither 4 nor 16.
    init?(_ bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self = .version4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16: self = .version6(bytes.reduce(0) { $0 << 8 | UInt128($1) })
        default: return nil
        }
    }

    /// Whether the address is one of the open internet, and leads nowhere else.
    var isPublic: Bool {
        switch self {
        case .version4(let number): !Self.closed4.contains { Self.holds($0, number) }
        case .version6(let number) where Self.leading.contains { Self.holds($0, number) }:
            Self.version4(UInt32(truncatingIfNeeded: number)).isPublic
        case .version6(let number):
            Self.holds(Self.global, number) && !Self.closed6.contains { Self.holds($0, number) }
        }
    }

    private static func holds<Number: FixedWidthInteger>(
        _ block: (start: Number, length: Number), _ number: Number
    ) -> Bool {
        (block.start ^ number) >> (Number(Number.bitWidth) - block.length) == 0
    }
}
