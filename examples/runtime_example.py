"""A runtime by itself: files and commands in one workspace, without any model."""

from pygent import Runtime

with Runtime(use_docker=False) as rt:
    print(rt.write_file("hello.py", "print('hello from a file')\n"))
    print(rt.bash("python3 hello.py"))
    print(rt.bash("exit 3"))
    print(rt.bash("sleep 60", timeout=0.2))
    print(rt.read_file("hello.py"))
    print(rt.read_file("nothing.txt"))
    print(rt.export_file("hello.py", "hello-copy.py"))
