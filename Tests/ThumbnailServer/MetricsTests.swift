import Alcedo
import FoundationEssentials
import Testing

@testable import thumbnail_server

struct MetricsTests {
    @Test func `numbers are formatted for Prometheus`() {
        var text = PrometheusText()
        text.add("a_total", .counter, "An a.", 3)
        text.add("b", .gauge, "Bs.", label: "l", [("x\"\\\n", 1)])
        var histogram = LatencyHistogram()
        histogram.add(.milliseconds(1))
        histogram.add(.seconds(2))
        histogram.add(.seconds(3_600))
        text.add("d_seconds", "Times.", histogram)

        let lines = text.text.split(separator: "\n")
        #expect(lines.prefix(3) == ["# HELP a_total An a.", "# TYPE a_total counter", "a_total 3"])
        #expect(lines.contains("b{l=\"x\\\"\\\\\\n\"} 1"))
        #expect(lines.contains("d_seconds_bucket{le=\"0.001\"} 1"))
        #expect(lines.contains("d_seconds_bucket{le=\"2.5\"} 2"))
        #expect(lines.contains("d_seconds_bucket{le=\"30.0\"} 2"))
        #expect(lines.contains("d_seconds_bucket{le=\"+Inf\"} 3"))
        #expect(lines.contains("d_seconds_sum 3602.001"))
        #expect(lines.last == "d_seconds_count 3")
    }

    @Test func `different requests are admitted up to the limit, and again after some have left`() throws {
        let keys = try Self.keys
        let admission = Admission(limit: 2)
        let first = try #require(admission.acquire(keys[0], of: "a"))
        var others = [try #require(admission.acquire(keys[1], of: "b"))]
        #expect(admission.acquire(keys[2], of: "c") == nil)
        // Equal requests share a slot.
        others.append(try #require(admission.acquire(keys[0], of: "a")))
        #expect(admission.current == 3)
        first.release()
        first.release()
        #expect(admission.current == 2 && admission.acquire(keys[2], of: "c") == nil)
        others.removeAll()
        #expect(admission.current == 0 && admission.acquire(keys[2], of: "c") != nil)
    }

    @Test func `a host has at most half of the slots, and gets them back`() throws {
        let keys = try Self.keys
        let admission = Admission(limit: 3)
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

    @Test func `the names of one machine share its slots when the server has connected to them`() throws {
        let keys = try Self.keys
        let admission = Admission(limit: 3)
        let permits = try [(keys[0], "a"), (keys[1], "b")].map { try #require(admission.acquire($0, of: $1)) }
        #expect(admission.machine(of: "a") == "a")

        for host in ["a", "b", "d"] { admission.recordAddress("1", of: host) }

        #expect(admission.machine(of: "a") == "1")
        // The last name has no request in progress, and its address is known.
        for host in ["a", "b", "d"] { #expect(admission.acquire(keys[2], of: host) == nil) }
        #expect(admission.acquire(keys[2], of: "c") != nil)

        // A name stays with its first address while it has requests, and then moves.
        admission.recordAddress("2", of: "b")
        #expect(admission.machine(of: "b") == "1" && admission.acquire(keys[2], of: "a") == nil)
        for permit in permits { permit.release() }
        let moved = [admission.acquire(keys[0], of: "a"), admission.acquire(keys[1], of: "b")]
        admission.recordAddress("2", of: "b")
        #expect(admission.machine(of: "b") == "2" && admission.acquire(keys[2], of: "d") != nil)
        for permit in moved { permit?.release() }
        let again = [admission.acquire(keys[0], of: "a"), admission.acquire(keys[1], of: "d")]
        #expect(again.allSatisfy { $0 != nil } && admission.acquire(keys[2], of: "a") == nil)
    }

    @Test func `a table of addresses that is full loses the oldest name`() {
        let admission = Admission(limit: 3)
        for index in 0...4_096 { admission.recordAddress("1", of: "\(index)") }
        #expect(admission.machine(of: "0") == "0")
        for index in 1...4_096 { #expect(admission.machine(of: "\(index)") == "1") }
    }

    private static var keys: [ImageKey] {
        get throws {
            try ["a", "b", "c"].map { ImageKey(ResourceKey(try #require(URL(string: "https://\($0).test/")))) }
        }
    }
}
