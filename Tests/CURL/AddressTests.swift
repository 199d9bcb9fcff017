import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials
import Testing

@testable import AlcedoCURL

@Suite(.timeLimit(.minutes(10)))
struct AddressTests {
    private func address(_ text: String) throws -> InternetAddress {
        var (short, long) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 16))
        if inet_pton(AF_INET, text, &short) == 1 { return try #require(InternetAddress(short)) }
        try #require(inet_pton(AF_INET6, text, &long) == 1)
        return try #require(InternetAddress(long))
    }

    private func publicOnly() -> CURLTransport {
        var options = CURLOptions()
        options.allowsPrivateAddresses = false
        options.proxy = .none
        return CURLTransport(options: options)
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
        "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1",
        "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::7f00:1", "::10.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "64:ff9b::127.0.0.1", "64:ff9b::192.168.1.1", "64:ff9b:1::8.8.8.8", "100::1", "100:0:0:1::1",
        "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00::1", "fdff::1", "ff02::1", "2001::1", "2001:1ff::1",
        "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1", "3fff:fff::1", "4000::1", "5f00::1",
    ])
    func `addresses outside the public internet are recognized`(text: String) throws {
        #expect(try !address(text).isPublic)
    }

    /// The metadata addresses of clouds: AWS, Azure, Google, Oracle, Alibaba, Tencent, Scaleway, OpenStack.
    @Test(arguments: [
        "169.254.169.254", "169.254.170.2", "fd00:ec2::254", "168.63.129.16", "::ffff:168.63.129.16",
        "64:ff9b::168.63.129.16", "fd20:ce::254", "192.0.0.192", "fd00:c1::a9fe:a9fe", "100.100.100.200",
        "169.254.0.23", "169.254.42.42", "fd00:42::42", "fe80::a9fe:a9fe",
    ])
    func `the addresses of cloud metadata services are not public`(text: String) throws {
        #expect(try !address(text).isPublic)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "168.63.129.15", "168.63.129.17", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
        "2000::1", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "3ffe::1", "3fff:1000::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    ])
    func `public addresses are recognized`(text: String) throws {
        #expect(try address(text).isPublic)
    }

    @Test func `only four or sixteen bytes are an address`() {
        #expect(InternetAddress([]) == nil)
        #expect(InternetAddress([127, 0, 0]) == nil)
        #expect(InternetAddress([UInt8](repeating: 1, count: 15)) == nil)
    }

    /// Every form of this machine's address that libcurl or the resolver accepts.
    @Test(arguments: [
        "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "[::1]", "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]", "LOCALHOST.",
    ])
    func `this machine is refused however its address is written`(host: String) async throws {
        let origin = try LoopbackOrigin { _ in .text("secret") }
        defer { origin.stop() }
        let url = try #require(URL(string: "http://\(host):\(origin.port)/"))

        let error = await #expect(throws: HTTPTransportError.self) {
            try await publicOnly().send(HTTPRequest(url: url, idleTimeout: .seconds(120)))
        }

        // If the resolver does not accept the form, there is nothing to refuse.
        #expect([.addressRefused, .cannotResolveHost, .offline, .invalidRequest].contains(error?.code))
        if ["127.0.0.1", "localhost", "[::1]"].contains(host) { #expect(error?.code == .addressRefused) }
        #expect(origin.requests.isEmpty)
    }

    @Test func `any address is allowed by default`() async throws {
        let origin = try LoopbackOrigin { _ in .text("open") }
        defer { origin.stop() }

        let response = try await CURLTransport().send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))

        #expect(response.head.status == 200)
    }

    @Test func `a reused handle refuses addresses like a new one`() async throws {
        let origin = try LoopbackOrigin { _ in .text("secret") }
        defer { origin.stop() }
        let transport = publicOnly()

        for _ in 0..<3 {
            let error = await #expect(throws: HTTPTransportError.self) {
                try await transport.send(HTTPRequest(url: origin.url, idleTimeout: .seconds(120)))
            }
            #expect(error?.code == .addressRefused)
        }
    }
}
