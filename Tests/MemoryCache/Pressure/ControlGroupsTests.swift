@testable import AlcedoMemoryCache
import TestSupport
import Testing

@Suite struct ControlGroupsTests {
    private func find(_ groups: String, _ mounts: String) -> ControlGroups {
        ControlGroups(groups: Array(groups.utf8), mounts: Array(mounts.utf8))
    }

    private func unified(root: String = "/", at point: String = "/sys/fs/cgroup") -> String {
        "29 23 0:26 \(root) \(point) rw,nosuid shared:4 master:1 - cgroup2 cgroup2 rw\n"
    }

    @Test func `the process's own group is listed first, then every ancestor up to the mount`() {
        let groups = find("0::/a/b\n", "1 1 0:1 / / rw - ext4 /dev/vda rw\n" + unified())

        #expect(groups.unified == ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"])
        #expect(groups.memory == nil)
    }

    @Test func `the last line may lack a line end`() {
        #expect(find("0::/a", String(unified().dropLast())).unified.first == "/sys/fs/cgroup/a")
    }

    @Test func `the root group is the mount itself`() {
        #expect(find("0::/\n", unified()).unified == ["/sys/fs/cgroup"])
    }

    @Test func `paths are relative to the part of the tree that the mount shows`() {
        let groups = find("0::/docker/box/inner\n", unified(root: "/docker/box"))
        #expect(groups.unified == ["/sys/fs/cgroup/inner", "/sys/fs/cgroup"])
    }

    @Test func `a group whose path only begins like the mount's root is not inside it`() {
        #expect(find("0::/docker/boxes\n", unified(root: "/docker/box")).unified == ["/sys/fs/cgroup"])
    }

    @Test func `a mount that shows the group takes precedence over one that does not`() {
        let mounts = unified(root: "/other", at: "/other") + unified(root: "/docker", at: "/here")
        #expect(find("0::/docker/box\n", mounts).unified == ["/here/box", "/here"])
    }

    @Test func `a mount of the whole container contains the host's path`() {
        #expect(find("0::/system.slice/docker-1.scope\n", unified(root: "/elsewhere")).unified == ["/sys/fs/cgroup"])
    }

    @Test(arguments: ["0::/../../a\n", "0::/a/..\n", "0::a\n", "0::\n", "1:memory:/..\n"])
    func `a group outside the namespace has no files`(text: String) {
        let groups = find(text, unified() + "35 31 0:32 / /v1 rw - cgroup cgroup rw,memory\n")
        #expect(groups.unified.isEmpty)
        #expect(groups.memory == nil)
    }

    @Test func `a mount of a directory outside the namespace is skipped`() {
        #expect(find("0::/\n", unified(root: "/../..")).unified.isEmpty)
        #expect(find("0::/\n", unified(root: "/..", at: "/no") + unified(at: "/yes")).unified == ["/yes"])
    }

    @Test func `escapes in a mount point are decoded, and colons are allowed in a path`() {
        let groups = find("0::/a:b c\n", unified(at: "/my\\040groups\\134"))
        #expect(groups.unified.first == "/my groups\\/a:b c")
    }

    @Test func `the memory controller of cgroup v1 is found among others and beside cgroup v2`() {
        let mounts =
            unified(at: "/sys/fs/cgroup/unified")
            + "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
            + "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory,hugetlb\n"
        let groups = find("5:cpu:/x\n4:hugetlb,memory:/box/1\n0::/\n", mounts)

        #expect(groups.memory == "/sys/fs/cgroup/memory/box/1")
        #expect(groups.unified == ["/sys/fs/cgroup/unified"])
    }

    @Test func `a path longer than the system's limit is rejected`() {
        let long = String(repeating: "/a", count: 2049)
        #expect(find("0::\(long)\n", unified()).unified.isEmpty)
        #expect(find("0::\(long.dropFirst(2))\n", unified()).unified.count == 2049)
    }

    @Test func `a path that is not UTF-8 does not trap`() {
        let groups = ControlGroups(
            groups: Array("0::/".utf8) + [0xFF, 0xC0, 0x0A], mounts: Array(unified().utf8))
        #expect(groups.unified.count == 2)
    }

    @Test(arguments: MalformedText.lines)
    func `malformed text does not trap`(text: [UInt8]) {
        _ = ControlGroups(groups: text, mounts: Array(unified().utf8))
        #expect(ControlGroups(groups: Array("0::/a\n4:memory:/a\n".utf8), mounts: text).memory == nil)
    }

    @Test func `random bytes do not trap`() {
        var random = SeededGenerator(seed: 5)
        let alphabet = Array("0:/ -,\n\\1.max cgroup2 memory".utf8) + [0, 0xFF]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            _ = ControlGroups(groups: text, mounts: text)
            _ = MemoryEvents(text)
            _ = StallCount(text)
        }
    }
}
