import Alcedo
import FoundationEssentials
import Testing

@testable import thumbnail_server

struct AdmissionTests {
    private typealias Permit = Admission.Permit

    private func key(_ name: String) throws -> ImageKey {
        ImageKey(ResourceKey(try #require(URL(string: "https://\(name).test/"))))
    }

    /// Admits distinct requests of hosts until one is rejected, and returns the permits of the others. The requests go
    /// round the hosts.
    private func fill(_ admission: Admission, _ hosts: [String]) throws -> [Permit] {
        var permits: [Permit] = []
        while true {
            let (name, host) = ("\(hosts.count)-\(permits.count)", hosts[permits.count % hosts.count])
            guard let permit = admission.acquire(try key(name), of: host) else { return permits }
            permits.append(permit)
        }
    }

    private func admission(limit: Int, waiterLimit: Int = .max, known hosts: String...) -> Admission {
        let admission = Admission(limit: limit, waiterLimit: waiterLimit)
        for host in hosts { admission.recordAddress("address of \(host)", of: host) }
        return admission
    }

    @Test func `different requests are admitted up to the limit, and again after some have left`() throws {
        let keys = try ["a", "b", "c"].map(key)
        let admission = admission(limit: 2, known: "a", "b", "c")
        let first = try #require(admission.acquire(keys[0], of: "a"))
        var others = [try #require(admission.acquire(keys[1], of: "b"))]
        #expect(admission.acquire(keys[2], of: "c") == nil)
        // Equal requests share a slot.
        others.append(try #require(admission.acquire(keys[0], of: "a")))
        #expect(admission.current == 3)
        first.release()
        first.release()
        #expect(admission.current == 2)
        #expect(admission.acquire(keys[2], of: "c") == nil)
        others.removeAll()
        #expect(admission.current == 0)
        #expect(admission.acquire(keys[2], of: "c") != nil)
    }

    @Test func `a host has at most half of the slots, and gets them back`() throws {
        let keys = try ["a", "b", "c"].map(key)
        let admission = admission(limit: 3, known: "a", "b")
        let first = try #require(admission.acquire(keys[0], of: "a"))
        let again = try #require(admission.acquire(keys[0], of: "a"))
        let second = try #require(admission.acquire(keys[1], of: "a"))
        #expect(admission.acquire(keys[2], of: "a") == nil)
        #expect(admission.acquire(keys[2], of: "b") != nil)
        first.release()
        #expect(admission.acquire(keys[2], of: "a") == nil)
        again.release()
        let third = try #require(admission.acquire(keys[2], of: "a"))
        #expect(admission.acquire(keys[0], of: "a") == nil)
        second.release()
        third.release()
        #expect(admission.current == 0)
    }

    @Test(arguments: [(1, 256), (2, 341), (3, 384), (15, 480)])
    func `machines share the slots equally, and leave as many to another one`(machines: Int, total: Int) throws {
        let admission = Admission(limit: 512)
        let hosts = (0..<machines).map { "\($0)" }
        for host in hosts + ["other"] { admission.recordAddress("1.\(host)", of: host) }

        let permits = try fill(admission, hosts)

        #expect(abs(permits.count - total) <= 1)
        #expect(admission.acquire(try key("other"), of: "other") != nil)
    }

    @Test func `new names take half of the slots together, also after their address is known`() throws {
        let admission = admission(limit: 512, known: "known")
        let names = (0..<1_024).map { "\($0).example" }
        var permits = try fill(admission, names)
        #expect(permits.count == 256)
        #expect(admission.acquire(try key("new"), of: "new.test") == nil)

        // All of them lead to one machine, which gains no further slots by it.
        for name in names { admission.recordAddress("1", of: name) }
        permits += try fill(admission, [names[1_023]])
        permits += try fill(admission, ["even", "more", "names"])
        #expect(permits.count == 256)

        #expect(admission.acquire(try key("known"), of: "known") != nil)
        permits.removeAll()
        #expect(admission.current == 0)
        #expect(try fill(admission, names).count == 256)
    }

    @Test(arguments: [
        (["%.example.test", "a.%.example.test"], "other.test"), (["%.example.co.uk"], "other.co.uk"),
        (["10.0.0.%", "[2001:db8::%]"], "other.test"), (["%.example.test"], "10.0.0.1"),
    ])
    func `the names of one domain leave slots to other new names`(patterns: [String], other: String) throws {
        let admission = Admission(limit: 512)
        let names = (0..<256).flatMap { number in patterns.map { $0.replacing("%", with: "\(number)") } }
        let permits = try fill(admission, names)
        #expect(permits.count == 171)

        #expect(admission.acquire(try key("other"), of: other) != nil)
        #expect(admission.acquire(try key("another"), of: "another.test") != nil)
    }

    @Test func `equal requests have the same rule, with a limit of their own`() throws {
        let admission = admission(limit: 10, waiterLimit: 8, known: "a", "b")
        let equal = try key("equal")
        var permits: [Permit] = []
        while let permit = admission.acquire(equal, of: "a") { permits.append(permit) }
        #expect(permits.count == 4)
        // A different request of the same machine would wait, too.
        #expect(admission.acquire(try key("other"), of: "a") == nil)
        #expect(admission.acquire(try key("b"), of: "b") != nil)
        permits.removeLast()
        #expect(admission.acquire(equal, of: "a") != nil)
    }

    @Test func `a waiter that comes after the address is known does not count for the unknown names`() throws {
        let admission = admission(limit: 10, waiterLimit: 4)
        let shared = try key("a")
        let first = try #require(admission.acquire(shared, of: "a"))
        admission.recordAddress("1", of: "a")
        let second = try #require(admission.acquire(shared, of: "a"))

        let unknown = try #require(admission.acquire(try key("b"), of: "b"))

        first.release()
        #expect(admission.acquire(try key("c"), of: "c") != nil)
        for permit in [second, unknown] { permit.release() }
        #expect(admission.current == 0)
        #expect(try fill(admission, ["d"]).count == 2)
    }

    @Test func `the names of one machine share its slots when the server has connected to them`() throws {
        let keys = try ["a", "b", "c"].map(key)
        let admission = admission(limit: 3, known: "c")
        let permits = try [(keys[0], "a"), (keys[1], "b")].map { try #require(admission.acquire($0, of: $1)) }
        #expect(admission.machine(of: "a") == "a")

        for host in ["a", "b", "d"] { admission.recordAddress("1", of: host) }

        #expect(admission.machine(of: "a") == "1")
        // The last name has no request in progress, and its address is known.
        for host in ["a", "b", "d"] { #expect(admission.acquire(keys[2], of: host) == nil) }
        #expect(admission.acquire(keys[2], of: "c") != nil)

        withExtendedLifetime(permits) {}
    }

    @Test func `a name stays with its first address while it has requests, and then moves`() throws {
        let keys = try ["a", "b", "c"].map(key)
        let admission = admission(limit: 4)
        for host in ["a", "b", "d"] { admission.recordAddress("1", of: host) }
        let permits = [admission.acquire(keys[0], of: "a"), admission.acquire(keys[1], of: "b")]
        #expect(permits.allSatisfy { $0 != nil })
        #expect(admission.acquire(keys[2], of: "d") == nil)

        admission.recordAddress("2", of: "b")
        #expect(admission.machine(of: "b") == "2")
        #expect(admission.acquire(keys[2], of: "d") != nil)
        admission.recordAddress("1", of: "b")
        #expect(admission.machine(of: "b") == "2")

        for permit in permits { permit?.release() }
        admission.recordAddress("1", of: "b")
        #expect(admission.machine(of: "b") == "1")
    }

    @Test func `a table of addresses that is full loses the oldest name`() {
        let admission = Admission(limit: 3)
        for index in 0...4_096 { admission.recordAddress("1", of: "\(index)") }
        #expect(admission.machine(of: "0") == "0")
        for index in 1...4_096 { #expect(admission.machine(of: "\(index)") == "1") }
    }
}
